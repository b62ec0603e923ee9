import type { ConfirmationPolicy, Message, SecretSource } from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import type { ToolSession } from "@convoke/tool-host";
import { Condensing } from "../agent/condense/condensing.ts";
import { withCondenserSecrets, type CondenserSettings } from "../agent/condense/condenser-settings.ts";
import { systemPromptEvent } from "../agent/prompt/system-prompt.ts";
import type { EventBody, EventDraft, StampedEvent } from "../journal/event-draft.ts";
import {
  LeaseLostError,
  SeqConflictError,
  type ConversationPatch,
  type Journal,
} from "../journal/journal.ts";
import type { Logger } from "../lib/logger.ts";
import { Mailbox } from "../lib/mailbox.ts";
import type { Model } from "../models/model.ts";
import type { AnalyzerConfig } from "../security/analyzers/analyzer.ts";
import { createMask } from "../security/mask.ts";
import type { SecretBox } from "../security/seal.ts";
import { secretValues, type ConversationConfig, type ConversationSecrets } from "./conversation-config.ts";
import type { ConversationLog } from "./conversation-log.ts";
import type { ConversationState } from "./conversation-state.ts";
import {
  decideAccept,
  decideInterrupt,
  decidePause,
  decideReject,
  decideRun,
  decideSend,
  stateUpdate,
  type Decision,
} from "./decide.ts";
import { fullStateFrame, secretRegistry } from "./describe.ts";
import { Hold } from "./hold.ts";
import type { SessionContext } from "./mcp-tools.ts";
import { findSent, messageDigest } from "./inbox.ts";
import { conversationClosing, ownedElsewhere } from "./refusals.ts";
import { Run } from "./run.ts";
import { settleStarted } from "./settle-started.ts";
import { Signals } from "./signals.ts";

export type ConversationDeps = {
  readonly id: string;
  readonly journal: Pick<Journal, "getInboxEntry" | "release">;
  readonly log: ConversationLog;
  readonly config: ConversationConfig;
  readonly secrets: ConversationSecrets;
  readonly secretBox: SecretBox;
  readonly validator: Validator;
  readonly openModel: (config: ConversationConfig, secrets: ConversationSecrets) => Model;
  readonly openSession: (config: ConversationConfig, context: SessionContext) => Promise<ToolSession>;
  /** Absolute. */
  readonly workspaceDir: (config: ConversationConfig) => string;
  /** Called once when another process took the conversation over: this object is of no more use. */
  readonly onLost: () => void;
  readonly nowMs: () => number;
  readonly logger: Logger;
};

export type SendInput = {
  readonly message: Message;
  readonly wantsRun: boolean;
  readonly sender?: string;
  /** Idempotency key: the same id with the same content is the same message, however often it is sent (P18). */
  readonly clientMessageId?: string;
};

/** The actor that owns one log: a mailbox, a fold, at most one run. Every method resolves when its effect is durable. */
export class Conversation implements AsyncDisposable {
  readonly id: string;
  readonly signals = new Signals();
  readonly #deps: ConversationDeps;
  readonly #log: ConversationLog;
  readonly #mailbox = new Mailbox();
  readonly #hold: Hold;
  #config: ConversationConfig;
  #secrets: ConversationSecrets;
  readonly #condensing: Condensing;
  #session: Promise<ToolSession> | null = null;
  #run: Run | null = null;
  #isClosing = false;
  #isLost = false;
  #disposal: Promise<void> | null = null;
  #lastUsedMs: number;

  constructor(deps: ConversationDeps) {
    this.id = deps.id;
    this.#deps = deps;
    this.#log = deps.log;
    this.#hold = new Hold(deps.logger);
    this.#config = deps.config;
    this.#secrets = deps.secrets;
    this.#lastUsedMs = deps.nowMs();
    this.#log.mask = createMask(secretValues(deps.secrets));
    this.#condensing = new Condensing({
      openModel: (settings) => this.#openCondenserModel(settings),
      warn: (fields) =>
        deps.logger.warn({ conversation: deps.id, ...fields }, "summary could not be written"),
    });
  }

  get state(): Readonly<ConversationState> {
    return this.#log.state;
  }

  get config(): ConversationConfig {
    return this.#config;
  }

  get secrets(): ConversationSecrets {
    return this.#secrets;
  }

  /** Epoch milliseconds of the last command or run step. */
  get lastUsedMs(): number {
    return this.#lastUsedMs;
  }

  /** True while a run is in progress or its last tool is still settling. */
  get isBusy(): boolean {
    return this.#run !== null;
  }

  /** Goes on where the last process stopped: calls that had started get their answers, then a run goes on if there was one. */
  async resume(): Promise<void> {
    await this.#post(async () => {
      try {
        await this.#settleLeft();
      } finally {
        this.#ensureRun();
      }
    });
  }

  /** Resolves with the id of the MessageEvent, the first one when this client message id was sent before. */
  async send(input: SendInput): Promise<{ readonly eventId: string; readonly isNew: boolean }> {
    const session = await this.#openSession();
    return await this.#post(async () => {
      const { message, clientMessageId: clientId } = input;
      const digest = clientId === undefined ? "" : messageDigest(message);
      const sent =
        clientId === undefined ? null : await findSent(this.#deps.journal, this.id, clientId, digest);
      if (sent !== null) return { eventId: sent.eventId, isNew: false };
      const decision = decideSend(this.#log.state, {
        message,
        wantsRun: input.wantsRun,
        sender: input.sender ?? null,
        systemPrompt: () => this.#systemPrompt(session),
      });
      const messageIndex = decision.drafts.findIndex(
        ({ body }) => typeof body !== "function" && body.kind === "MessageEvent",
      );
      const stamped = await this.#commit(
        decision,
        clientId === undefined
          ? {}
          : { inbox: (ids: string[]) => ({ clientId, eventId: ids[messageIndex]!, digest }) },
      );
      return { eventId: stamped[messageIndex]!.record.id, isNew: true };
    });
  }

  async run(): Promise<void> {
    await this.#command(decideRun);
  }

  async accept(): Promise<void> {
    await this.#command(decideAccept);
  }

  async reject(reason: string): Promise<void> {
    await this.#command((state) => decideReject(state, reason, this.#run?.executing));
  }

  async pause(): Promise<void> {
    await this.#hold.halt(() => this.#command(decidePause));
    this.publishFullState();
  }

  async interrupt(): Promise<void> {
    await this.#hold.halt(() => this.#cutOff({ kind: "InterruptEvent", source: "user" }));
    this.publishFullState();
  }

  /** Like interrupt; resolves with what the loop was doing before. No model call or tool starts after it resolves (P43). */
  async stop(): Promise<"RUNNING" | "STOPPED"> {
    let wasRunning = false;
    await this.#hold.halt(() =>
      this.#post(async () => {
        wasRunning = this.#log.state.status === "running" || this.#isWorking;
        if (!wasRunning) return;
        const marker: EventBody = { kind: "PauseEvent", source: "user" };
        await this.#commit(decideInterrupt(this.#log.state, marker, this.#isWorking));
      }),
    );
    if (wasRunning) this.publishFullState();
    return wasRunning ? "RUNNING" : "STOPPED";
  }

  async #cutOff(marker: EventBody): Promise<void> {
    await this.#command((state) => decideInterrupt(state, marker, this.#isWorking));
  }

  async #settleLeft(): Promise<void> {
    const left = this.#log.state.openActions.filter(({ gate }) => gate === "approved");
    if (left.length === 0) return;
    const drafts = await settleStarted(left, await this.#openSession());
    if (drafts.length > 0) await this.#log.append(drafts);
  }

  /** True also after a pause, while what was in progress goes on to its end. */
  get #isWorking(): boolean {
    return this.#run?.isWorking === true;
  }

  async setConfirmationPolicy(policy: ConfirmationPolicy): Promise<void> {
    await this.#reconfigure({ confirmation_policy: policy });
  }

  async setSecurityAnalyzer(analyzer: AnalyzerConfig | null): Promise<void> {
    await this.#reconfigure({ security_analyzer: analyzer });
  }

  async setTags(tags: Readonly<Record<string, string>>): Promise<void> {
    await this.#reconfigure({ tags });
  }

  async setTitle(title: string | null): Promise<void> {
    await this.#post(() => this.#log.append([stateUpdate("title", title)], { patch: { title } }));
  }

  /** Adds or replaces secrets; durable and sealed when it resolves (W5). */
  async updateSecrets(sources: Readonly<Record<string, SecretSource>>): Promise<void> {
    await this.#post(async () => {
      const secrets: ConversationSecrets = {
        ...this.#secrets,
        sources: { ...this.#secrets.sources, ...sources },
      };
      this.#log.mask = createMask([...secretValues(this.#secrets), ...secretValues(secrets)]);
      await this.#log.append([stateUpdate("secret_registry", secretRegistry(secrets))], {
        patch: { sealedSecrets: this.#deps.secretBox.seal(JSON.stringify(secrets)) },
      });
      this.#secrets = secrets;
    });
  }

  /** Tells everyone who listens now how the conversation stands; stored nowhere. */
  publishFullState(): void {
    if (this.signals.isHeard) this.signals.emit(this.fullStateFrame());
  }

  fullStateFrame(): string {
    return this.#log.mask(
      fullStateFrame(this.#config, this.#secrets, this.#log.state, this.id, this.#deps.nowMs()),
    );
  }

  /** Stops working without changing the status: a run that was in progress goes on after the next load. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal ??= this.#dispose();
    await this.#disposal;
  }

  async #dispose(): Promise<void> {
    this.#isClosing = true;
    this.#hold.end();
    this.#run?.abort();
    await this.#run?.ended;
    await this.#condensing.close();
    await this.#mailbox.drain();
    if (this.#session !== null) await (await this.#session)[Symbol.asyncDispose]();
    await this.#deps.journal.release(this.#log.lease);
  }

  #openCondenserModel(settings: CondenserSettings): Model {
    const llm = withCondenserSecrets(settings, this.#secrets);
    const config = { ...this.#config, agent: { ...this.#config.agent, llm } };
    return this.#deps.openModel(config, { ...this.#secrets, llm: {} });
  }

  #systemPrompt(session: ToolSession): EventBody {
    return systemPromptEvent({
      tools: session.tools,
      workspaceDir: this.#deps.workspaceDir(this.#config),
      secrets: Object.entries(this.#secrets.sources).map(([name, source]) => ({
        name,
        description: source.description ?? null,
      })),
      suffix: this.#config.agent.agent_context?.system_message_suffix ?? null,
      now: new Date(this.#deps.nowMs()),
    });
  }

  async #reconfigure(change: Partial<ConversationConfig>): Promise<void> {
    await this.#post(async () => {
      const config = { ...this.#config, ...change };
      const drafts = Object.entries(change)
        .filter(
          ([key, value]) =>
            JSON.stringify(value) !== JSON.stringify(this.#config[key as keyof ConversationConfig]),
        )
        .map(([key, value]) => stateUpdate(key, value));
      if (drafts.length === 0) return;
      await this.#log.append(drafts, { patch: { config: JSON.stringify(config) } });
      this.#config = config;
    });
  }

  async #command(decide: (state: ConversationState) => Decision): Promise<void> {
    await this.#post(async () => {
      await this.#commit(decide(this.#log.state));
    });
  }

  async #commit(
    decision: Decision,
    extra: Parameters<ConversationLog["append"]>[1] & { patch?: ConversationPatch } = {},
  ): Promise<StampedEvent[]> {
    if (decision.isAbort === true) {
      this.#run?.abort();
      this.#condensing.abort();
    }
    if (decision.drafts.length === 0) return [];
    const stamped = await this.#log.append(decision.drafts, extra);
    this.#ensureRun();
    return stamped;
  }

  /** The one place where work starts: whenever the log says `running`, exactly one run is alive. */
  #ensureRun(): void {
    if (this.#isClosing || this.#isLost || this.#hold.isOn) return;
    if (this.#run !== null || this.#log.state.status !== "running") return;
    const run = new Run({
      log: this.#log,
      post: (job) => this.#post(job),
      isHeld: () => this.#hold.isOn,
      openSession: () => this.#openSession(),
      openModel: () => this.#deps.openModel(this.#config, this.#secrets),
      condensing: this.#condensing,
      config: () => this.#config,
      secrets: () => this.#secrets,
      signals: this.signals,
      validator: this.#deps.validator,
      logger: this.#deps.logger,
      conversationId: this.id,
    });
    this.#run = run;
    void run.ended.then(() => this.#onRunEnded());
  }

  #onRunEnded(): void {
    this.#run = null;
    this.#log.forgetView();
    this.publishFullState();
    // A command may have made the log `running` again while the last step settled.
    void this.#mailbox.post(() => this.#ensureRun());
  }

  #post<Result>(job: () => Promise<Result> | Result): Promise<Result> {
    this.#lastUsedMs = this.#deps.nowMs();
    return this.#mailbox.post(async () => {
      // A run that is being closed may still record what its tool has done.
      if (this.#isLost || (this.#isClosing && this.#run === null)) throw conversationClosing();
      try {
        return await job();
      } catch (error) {
        if (!(error instanceof LeaseLostError || error instanceof SeqConflictError)) throw error;
        this.#lose();
        throw ownedElsewhere();
      }
    });
  }

  /** The store has another owner for this log: this object ends, the conversation lives on there. */
  #lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#run?.abort();
    this.#deps.onLost();
  }

  /** Opens what takes its time, such as MCP servers, before anybody asks for it. */
  async prepare(): Promise<void> {
    await this.#openSession();
  }

  #notify(draft: EventDraft): void {
    this.#post(() => this.#log.append([draft])).catch((error: unknown) => {
      this.#deps.logger.warn({ conversation: this.id, error: String(error) }, "a notice could not be stored");
    });
  }

  /** Opened once and reused; a failed opening is tried again at the next use. */
  async #openSession(): Promise<ToolSession> {
    this.#session ??= this.#deps.openSession(this.#config, {
      secrets: () => this.#secrets,
      notify: (draft) => this.#notify(draft),
    });
    try {
      return await this.#session;
    } catch (error) {
      this.#session = null;
      throw error;
    }
  }
}
