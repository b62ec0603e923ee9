import { onceUnlessRejected } from "@convoke/protocol";
import type { EventDraft } from "../events/event-draft.ts";
import { addPlugin, type ToPluginChange } from "./add-plugin.ts";
import { switchAcpModel } from "./acp/switch-model.ts";
import { answerApprovals } from "./answer-approvals.ts";
import type { ApprovalAnswer } from "./commands/approvals.ts";
import { approvePlan } from "./approve-plan.ts";
import { askBeside } from "./commands/ask-agent.ts";
import { decideAccept, decideReject, decideRun } from "./commands/decide.ts";
import type { GoalLoop } from "./goal-loop.ts";
import { decideNavigation, refuseWhileWorking } from "./commands/navigate.ts";
import { refuseForAcp } from "./refusals.ts";
import { decideDequeue } from "./commands/queue.ts";
import { noHooks, refuseIfRejected, sendMessage, type SendDeps, type Sent } from "./commands/send-message.ts";
import type { ClientResult } from "./client-calls.ts";
import type { Configuration } from "./configuration.ts";
import type { ConversationDeps, SendInput } from "./conversation-deps.ts";
import type { ConversationLog } from "./conversation-log.ts";
import type { ConversationModels } from "./conversation-models.ts";
import { createParts, type ConversationParts } from "./conversation-parts.ts";
import { endHooks } from "./end-hooks.ts";
import type { Halts } from "./halts.ts";
import { toolTimeoutMs, type LazySession } from "./lazy-session.ts";
import type { PublishedState } from "./published-state.ts";
import { condenseNow } from "./run/condense-now.ts";
import type { Runner } from "./run/runner.ts";
import type { ConversationState } from "./state/conversation-state.ts";
import type { Titling } from "./titling.ts";
import type { WorkQueue } from "./work-queue.ts";
import type { Writer } from "./writer.ts";

/**
 * The actor that owns one log: a mailbox, a fold, at most one run. Every method resolves when its effect is durable.
 * Callers use its parts for the rest.
 */
export class Conversation implements AsyncDisposable {
  readonly id: string;
  readonly log: ConversationLog;
  readonly queue: WorkQueue;
  readonly configuration: Configuration;
  readonly models: ConversationModels;
  /** Its tools. */
  readonly session: LazySession;
  readonly runner: Runner;
  readonly writer: Writer;
  readonly halts: Halts;
  readonly titling: Titling;
  readonly goals: GoalLoop;
  /** Its published state, for sockets. */
  readonly published: PublishedState;
  readonly #deps: ConversationDeps;
  readonly #parts: ConversationParts;
  readonly #endWork = onceUnlessRejected(() => this.#dispose());
  readonly #release = onceUnlessRejected(() => this.#deps.journal.release(this.log.lease));
  #hasEndedHooks = false;

  constructor(deps: ConversationDeps) {
    const parts = createParts(deps);
    this.#deps = deps;
    this.#parts = parts;
    this.id = parts.id;
    this.log = parts.log;
    this.queue = parts.queue;
    this.configuration = parts.configuration;
    this.models = parts.models;
    this.session = parts.session;
    this.runner = parts.runner;
    this.writer = parts.writer;
    this.halts = parts.halts;
    this.titling = parts.titling;
    this.goals = parts.goals;
    this.published = parts.published;
  }

  get state(): Readonly<ConversationState> {
    return this.log.state;
  }

  /**
   * True while a run is in progress, its last tool settles, an approval timeout is pending, or a command is queued.
   */
  get isBusy(): boolean {
    return this.goals.isBusy || this.runner.isAlive || this.#parts.approvalTimer.isSet || this.queue.isInUse;
  }

  /**
   * Opens the tools if needed, which connects all MCP servers, and reconnects one; false if there is no such server.
   */
  async reconnectMcp(name: string): Promise<boolean> {
    using _use = this.queue.use();
    await this.session.open();
    return this.session.mcpServers?.reconnectMcp(name) === true;
  }

  /**
   * Resolves with the id of the MessageEvent; for a repeated client message id, that of the first. The message is
   * stored even if the tools are unavailable (P65); a run that needs them reports the error.
   */
  async send(input: SendInput): Promise<Sent> {
    // Counts as work from here on: an idle conversation may be evicted, one that opens its workspace may not.
    using _use = this.queue.use();
    const session = await this.session.openWithin(toolTimeoutMs);
    const { gate } = this.#parts.hooks;
    // A message that is rejected runs no hooks.
    if (gate !== null) await this.queue.post(() => refuseIfRejected(input, this.#sending()));
    const admitted = (await gate?.admit(input.message)) ?? noHooks;
    const sent = await this.queue.post(() =>
      sendMessage(input, { session, admitted, work: this.halts.work }, this.#sending(), (decision, extra) =>
        this.writer.commit(decision, extra),
      ),
    );
    if (sent.isAbort) await this.halts.settle();
    return sent;
  }

  /** Ends plan mode, see {@link approvePlan}. */
  async approvePlan(words: string | null): Promise<void> {
    const { journal, tools } = this.#deps;
    await approvePlan(words, { ...this.#parts, journal, tools });
  }

  async run(): Promise<void> {
    await this.writer.command(decideRun);
  }

  async accept(): Promise<void> {
    await this.writer.command(decideAccept);
  }

  async reject(reason: string): Promise<void> {
    await this.writer.command((state) => decideReject(state, reason, this.runner.executing));
  }

  /** Answers pending actions, see {@link answerApprovals}. */
  async answer(answers: readonly ApprovalAnswer[], userId: string): Promise<void> {
    await answerApprovals(answers, userId, { ...this.#parts, rules: this.#deps.rules });
  }

  /** Stores what client tools returned, see {@link ClientCalls.receive}. */
  async receive(results: readonly ClientResult[]): Promise<void> {
    await this.#parts.clientCalls.receive(results, (decision) => this.writer.commit(decision));
  }

  /** Withdraws a queued message (P44); fails if it is unknown (404) or was read (409). */
  async dequeue(eventId: string): Promise<void> {
    const { log, runner } = this;
    await this.queue.post(async () => {
      const known = await log.find(eventId);
      const isKnown = known?.event.kind === "MessageEvent" || known?.meta.held !== undefined;
      await this.writer.commit(decideDequeue(log.state, eventId, runner.beingReadSeq, isKnown));
    });
  }

  /** Adds a plugin for the next turn, see {@link addPlugin}; fails during a run (409). */
  async addPlugin(toChange: ToPluginChange): Promise<void> {
    await addPlugin(toChange, this.#parts);
    this.published.publish();
  }

  /** A side question; only its cost enters the log. */
  async ask(question: string, signal: AbortSignal): Promise<string> {
    refuseForAcp(this.configuration.config, "A question beside the task");
    using _use = this.queue.use();
    const session = await this.session.open();
    const either = AbortSignal.any([signal, this.#parts.lifetime.closing]);
    return await askBeside(this.#parts, session, question, either);
  }

  /** Replaces the oldest part by a summary; see {@link condenseNow}. */
  async condense(): Promise<void> {
    refuseForAcp(this.configuration.config, "A summary of the history");
    await condenseNow(this.#parts, await this.session.open());
  }

  /** Has the other agent use another model, see {@link switchAcpModel}. */
  async switchAcpModel(model: string): Promise<void> {
    using _use = this.queue.use();
    await switchAcpModel(model, this.#parts);
    this.published.publish();
  }

  /** Continues from another event, see {@link decideNavigation}; fails during a run or an active goal (409). */
  async navigate(eventId: string | null): Promise<void> {
    const { configuration, log, queue, runner } = this;
    refuseForAcp(configuration.config, "To go back to an earlier event");
    refuseWhileWorking(log.state, runner.isWorking);
    // A run without further work ends immediately.
    await runner.ended();
    await queue.post(async () => {
      refuseWhileWorking(log.state, runner.isAlive);
      await this.writer.commit(await decideNavigation(log, eventId));
    });
    this.published.publish();
  }

  /** Resumes after a restart: settles calls that had started, then continues an active run. */
  async resume(): Promise<void> {
    await this.#parts.unfinished.settleAll(this.#parts.lifetime.closing, () => {
      this.runner.ensure();
      this.goals.check();
    });
  }

  /** Ends a run with an error instead of resuming it; opens nothing. */
  async setAside(drafts: readonly EventDraft[]): Promise<void> {
    await this.queue.post(async () => {
      if (this.state.status === "running") await this.log.append(drafts);
    });
  }

  /** Stops working without changing the status: a run in progress resumes after the next load. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    const work = this.#endWork().then(() => this.#release());
    await Promise.all([this.#deps.people[Symbol.asyncDispose](), work]);
  }

  /** The same for a hand-over to another process: tools in a sandbox are not stopped. */
  async handOver(): Promise<void> {
    this.#parts.lifetime.handOver();
    await this[Symbol.asyncDispose]();
  }

  /** The same if another process owns its log already: nothing starts any more, not even end hooks. */
  async lose(): Promise<void> {
    this.queue.lose();
    this.#parts.lifetime.lose();
    await this.handOver();
  }

  #sending(): SendDeps {
    const { journal, tools } = this.#deps;
    return { ...this.#parts, journal, tools };
  }

  async #dispose(): Promise<void> {
    const { acp, approvalTimer, condensing, goals, hold, hooks, lifetime, queue, runEnd, runner, runTimer } =
      this.#parts;
    queue.close();
    hold.end();
    runEnd[Symbol.dispose]();
    lifetime.close();
    approvalTimer.set(null);
    runTimer.set(null);
    acp?.close();
    runner.abort();
    await runner.ended();
    await condensing.close();
    await this.titling.close();
    await goals.close();
    await queue.drain();
    await hooks[Symbol.asyncDispose]();
    if (hooks.gate !== null && !this.#hasEndedHooks) {
      this.#hasEndedHooks = true;
      await endHooks(hooks.gate, this.#parts);
    }
    await this.session[Symbol.asyncDispose]();
    this.#deps.boundSecrets.set([]);
    this.#deps.viewCache.take(this.log);
  }
}
