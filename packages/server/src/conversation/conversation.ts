import type { LLM, SecretSource } from "@convoke/protocol";
import type { ToolSession } from "@convoke/tool-host";
import { Condensing } from "../agent/condense/condensing.ts";
import { withCondenserSecrets, type CondenserSettings } from "../agent/condense/condenser-settings.ts";
import type { EventBody, EventDraft, StampedEvent } from "../journal/event-draft.ts";
import { LeaseLostError, SeqConflictError, type ConversationPatch } from "../journal/journal.ts";
import { Mailbox } from "../lib/mailbox.ts";
import type { Model } from "../models/model.ts";
import { ApprovalClock } from "./approval-clock.ts";
import { decideAnswers, decideTimeout, type ApprovalAnswer } from "./approvals.ts";
import { askAgent, textOf } from "./ask-agent.ts";
import { Configuration } from "./configuration.ts";
import type { ConversationConfig, ConversationSecrets } from "./conversation-config.ts";
import type { ConversationLog } from "./conversation-log.ts";
import type { ConversationDeps, SendInput } from "./conversation-deps.ts";
import type { ConversationState, QueuedMessage } from "./conversation-state.ts";
import { condenseNow } from "./condense-now.ts";
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
import { fullStateFrame } from "./describe.ts";
import { activateSkills, firstEvent } from "./first-event.ts";
import { Hold } from "./hold.ts";
import { findSent, messageDigest } from "./inbox.ts";
import { withSettingsVersion } from "./settings-version.ts";
import { decideDequeue, queuedMessages } from "./queue.ts";
import { conversationClosing, ownedElsewhere } from "./refusals.ts";
import type { HookGate } from "./hook-gate.ts";
import { Run } from "./run.ts";
import { settleStarted } from "./settle-started.ts";
import { Signals } from "./signals.ts";
import { addUsage } from "./stats.ts";
import { textOfMessage, Titling } from "./titling.ts";

/** The actor that owns one log: a mailbox, a fold, at most one run. Every method resolves when its effect is durable. */
export class Conversation implements AsyncDisposable {
  readonly id: string;
  readonly signals = new Signals();
  readonly #deps: ConversationDeps;
  readonly #log: ConversationLog;
  readonly #mailbox = new Mailbox();
  readonly #hold: Hold;
  readonly #clock: ApprovalClock;
  readonly #closing = new AbortController();
  readonly #configuration: Configuration;
  readonly #condensing: Condensing;
  readonly #titling: Titling;
  #session: Promise<ToolSession> | null = null;
  #run: Run | null = null;
  readonly #hooks: HookGate | null;
  #isClosing = false;
  #isLost = false;
  #disposal: Promise<void> | null = null;
  #lastUsedMs: number;
  #openJobs = 0;

  constructor(deps: ConversationDeps) {
    this.id = deps.id;
    this.#deps = deps;
    this.#log = deps.log;
    this.#hold = new Hold(deps.logger);
    this.#clock = new ApprovalClock({ onDeadline: () => this.#answerOverdue(), nowMs: deps.nowMs });
    this.#configuration = new Configuration({ ...deps, post: (job) => this.#post(job) });
    this.#lastUsedMs = deps.nowMs();
    this.#hooks =
      deps.openHooks?.(deps.config, {
        openModel: () => deps.openModel(this.config, this.secrets),
        notify: (draft) => this.#notify(draft),
      }) ?? null;
    this.#condensing = new Condensing({
      openModel: (settings) => this.#openCondenserModel(settings),
      warn: (fields) =>
        deps.logger.warn({ conversation: deps.id, ...fields }, "summary could not be written"),
    });
    this.#titling = new Titling({
      conversationId: deps.id,
      log: deps.log,
      post: (job) => this.#post(job),
      openModel: (other) =>
        other === null ? deps.openModel(this.config, this.secrets) : this.#openOtherModel(other),
      llm: () => this.config.agent.llm,
      logger: deps.logger,
    });
  }

  get state(): Readonly<ConversationState> {
    return this.#log.state;
  }

  get config(): ConversationConfig {
    return this.#configuration.config;
  }

  get secrets(): ConversationSecrets {
    return this.#configuration.secrets;
  }

  /** Epoch milliseconds of the last command or run step. */
  get lastUsedMs(): number {
    return this.#lastUsedMs;
  }

  /** True while a run is in progress or its last tool is still settling, while an answer is due, and while a command is on its way. */
  get isBusy(): boolean {
    return this.#run !== null || this.#clock.isSet || this.#openJobs > 0;
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
    // Counted from here on: an idle conversation may be put away, one that opens its workspace for a message may not.
    using _use = this.#use();
    const session = await this.#openSession();
    const admitted = await this.#hooks?.admit(input.message);
    return await this.#post(async () => {
      const { message, clientMessageId: clientId } = input;
      const digest = clientId === undefined ? "" : messageDigest(message);
      const sent =
        clientId === undefined ? null : await findSent(this.#deps.journal, this.id, clientId, digest);
      if (sent !== null) return { eventId: sent.eventId, isNew: false };
      const isFirst = this.#log.state.lastUserMessageId === null;
      const decision = decideSend(this.#log.state, {
        message,
        wantsRun: input.wantsRun,
        sender: input.sender ?? null,
        systemPrompt: () =>
          firstEvent({ ...this.#deps, session, config: this.config, secrets: this.secrets }),
        activation: await activateSkills(session, () => this.#log.view(), message),
        ...(admitted === undefined ? {} : { admitted }),
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
      if (isFirst && this.config.autotitle === true)
        this.#titling.begin(textOfMessage(message.content ?? []));
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

  /** Accepts or rejects some of what waits; fails when an action is unknown (404) or settled (409). */
  async answer(answers: readonly ApprovalAnswer[]): Promise<void> {
    await this.#post(async () => {
      const view = await this.#log.view();
      const isKnown = (id: string): boolean => view.some(({ event }) => event.id === id);
      await this.#commit(decideAnswers(this.#log.state, answers, isKnown));
    });
  }

  /** Messages that the agent has not read yet, oldest first. */
  queued(): QueuedMessage[] {
    return queuedMessages(this.#log.state, this.#run?.beingReadSeq ?? 0);
  }

  /** Takes a queued message back (P44); fails when it is unknown (404) or read (409). */
  async dequeue(eventId: string): Promise<void> {
    await this.#post(async () => {
      const view = await this.#log.view();
      const isKnown = view.some(({ event }) => event.kind === "MessageEvent" && event.id === eventId);
      const readSeq = this.#run?.beingReadSeq ?? 0;
      await this.#commit(decideDequeue(this.#log.state, eventId, readSeq, isKnown));
    });
  }

  /** A question beside the task; only what it cost enters the log. */
  async ask(question: string, signal: AbortSignal): Promise<string> {
    using _use = this.#use();
    const session = await this.#openSession();
    const view = await this.#post(async () => [...(await this.#log.view())]);
    const model = this.#deps.openModel(this.config, this.secrets);
    const either = AbortSignal.any([signal, this.#closing.signal]);
    const response = await askAgent({ session, view, model, cacheKey: this.id }, question, either);
    const llm = { ...this.config.agent.llm, usage_id: "ask-agent-llm" };
    await this.#post(() => this.#log.append([addUsage(this.#log.state.stats, llm, response)]));
    return JSON.parse(this.#log.mask(JSON.stringify(textOf(response)))) as string;
  }

  /** Replaces the oldest part by a summary; see {@link condenseNow}. */
  async condense(): Promise<void> {
    await condenseNow(
      {
        conversationId: this.id,
        log: this.#log,
        post: (job) => this.#post(job),
        condensing: this.#condensing,
        config: () => this.config,
        isRunning: () => this.#run !== null,
      },
      await this.#openSession(),
    );
  }

  /** A title of at most `length` characters for the conversation as it is now; it is kept nowhere. */
  async proposeTitle(length?: number, llm: LLM | null = null): Promise<string> {
    return await this.#titling.propose(length, llm);
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

  /** Changes the configuration, and the model's credentials with it; each field that changes is told to clients. */
  async configure(
    change: Partial<ConversationConfig>,
    llmSecrets: ConversationSecrets["llm"] | null = null,
  ): Promise<void> {
    await this.#configuration.change(change, llmSecrets);
  }

  /** Adds or replaces secrets; durable and sealed when it resolves (W5). */
  async updateSecrets(sources: Readonly<Record<string, SecretSource>>): Promise<void> {
    await this.#configuration.addSecrets(sources);
  }

  async setTitle(title: string | null): Promise<void> {
    await this.#post(() => this.#log.append([stateUpdate("title", title)], { patch: { title } }));
  }

  /** Tells everyone who listens now how the conversation stands; stored nowhere. */
  publishFullState(): void {
    if (this.signals.isHeard) this.signals.emit(this.fullStateFrame());
  }

  fullStateFrame(): string {
    return this.#log.mask(
      fullStateFrame(this.config, this.secrets, this.#log.state, this.id, this.#deps.nowMs()),
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
    this.#closing.abort();
    this.#clock.set(null);
    this.#run?.abort();
    await this.#run?.ended;
    await this.#condensing.close();
    await this.#titling.close();
    await this.#mailbox.drain();
    await this.#endHooks();
    if (this.#session !== null) await (await this.#session)[Symbol.asyncDispose]();
    await this.#deps.journal.release(this.#log.lease);
  }

  async #endHooks(): Promise<void> {
    if (this.#hooks === null) return;
    await using hooks = this.#hooks;
    try {
      const records = this.#isLost ? [] : await hooks.end();
      if (records.length > 0) await this.#log.append(records);
    } catch (error) {
      // The conversation ends all the same; its last hooks are only not on record.
      this.#deps.logger.warn({ conversation: this.id, error: String(error) }, "end of hooks not recorded");
    }
  }

  #openCondenserModel(settings: CondenserSettings): Model {
    return this.#openOtherModel(withCondenserSecrets(settings, this.secrets));
  }

  /** A model beside the agent's, with its credentials in it. */
  #openOtherModel(llm: LLM): Model {
    const config = { ...this.config, agent: { ...this.config.agent, llm } };
    return this.#deps.openModel(config, { ...this.secrets, llm: {} });
  }

  #answerOverdue(): void {
    const { approval_policy: policy } = this.config;
    if (!policy) return;
    this.#command((state) => decideTimeout(state, policy)).catch((error: unknown) => {
      this.#deps.logger.warn(
        { conversation: this.id, error: String(error) },
        "the default answer was not recorded",
      );
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
    const stamped = await this.#log.append(withSettingsVersion(decision.drafts, this.config), extra);
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
      openModel: () => this.#deps.openModel(this.config, this.secrets),
      condensing: this.#condensing,
      config: () => this.config,
      secrets: () => this.secrets,
      signals: this.signals,
      hooks: this.#hooks,
      overBudget: () => this.#deps.overBudget?.() ?? null,
      nowMs: this.#deps.nowMs,
      validator: this.#deps.validator,
      logger: this.#deps.logger,
      ...(this.#deps.observer === undefined ? {} : { observer: this.#deps.observer }),
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

  #use(): Disposable {
    this.#openJobs += 1;
    return { [Symbol.dispose]: () => (this.#openJobs -= 1) };
  }

  #post<Result>(job: () => Promise<Result> | Result): Promise<Result> {
    this.#lastUsedMs = this.#deps.nowMs();
    const use = this.#use();
    return this.#mailbox.post(async () => {
      try {
        // A run that is being closed may still record what its tool has done.
        if (this.#isLost || (this.#isClosing && this.#run === null)) throw conversationClosing();
        const result = await job();
        if (!this.#isClosing) this.#clock.set(this.#log.state.approvalDeadlineMs);
        return result;
      } catch (error) {
        if (!(error instanceof LeaseLostError || error instanceof SeqConflictError)) throw error;
        this.#lose();
        throw ownedElsewhere();
      } finally {
        use[Symbol.dispose]();
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
    this.#session ??= this.#deps.openSession(this.config, {
      secrets: () => this.secrets,
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
