import type { LLM, SecretSource } from "@convoke/protocol";
import { approvalMessage, workingAgent } from "../agent/plan-mode.ts";
import { readsPrediction } from "../security/analyzers/analyzer.ts";
import type { EventDraft } from "../events/event-draft.ts";
import type { McpServers } from "../extensions/mcp/mcp-status.ts";
import { toolPatienceMs, type LazySession } from "./lazy-session.ts";
import { Actor } from "./actor.ts";
import { awaiting, decideAnswers, type ApprovalAnswer } from "./commands/approvals.ts";
import { askBeside } from "./commands/ask-agent.ts";
import { condenseNow } from "./run/condense-now.ts";
import { maskCut } from "../security/mask.ts";
import type { ConversationConfig, ConversationSecrets } from "./conversation-config.ts";
import { warning, type Warning } from "../events/warning.ts";
import { secretValues } from "./secret-values.ts";
import type { ConversationDeps, SendInput } from "./conversation-deps.ts";
import type { ConversationState, QueuedMessage } from "./state/conversation-state.ts";
import { decideAccept, decideInterrupt, decidePause, decideReject, decideRun } from "./commands/decide.ts";
import { stateUpdate } from "../events/state-update.ts";
import { decideGoalResume, decideGoalStop } from "./commands/goal.ts";
import { refuseApprovingPlan } from "./commands/approve-plan.ts";
import { decideNavigation, refuseWhileWorking } from "./commands/navigate.ts";
import { decideDequeue, queuedMessages } from "./commands/queue.ts";
import { standingFrame } from "./state/standing.ts";
import { unusedWarning } from "./unused-fields.ts";
import { sendMessage, type Sent } from "./commands/send-message.ts";

/** The actor that owns one log: a mailbox, a fold, at most one run. Every method resolves when its effect is durable. */
export class Conversation implements AsyncDisposable {
  readonly id: string;
  readonly #deps: ConversationDeps;
  readonly #actor: Actor;

  constructor(deps: ConversationDeps) {
    this.id = deps.id;
    this.#deps = deps;
    this.#actor = new Actor(deps);
  }

  get state(): Readonly<ConversationState> {
    return this.#actor.log.state;
  }

  get config(): ConversationConfig {
    return this.#actor.configuration.config;
  }

  get secrets(): ConversationSecrets {
    return this.#actor.configuration.secrets;
  }

  /** Epoch milliseconds of the last command or run step. */
  get lastUsedMs(): number {
    return this.#actor.queue.lastUsedMs;
  }

  /** True while a run is in progress or its last tool is still settling, while an answer is due, and while a command is on its way. */
  get isBusy(): boolean {
    return (
      this.#actor.goals.isBusy ||
      this.#actor.runner.isAlive ||
      this.#actor.isAnswerDue ||
      this.#actor.queue.isInUse
    );
  }

  /** Its tools. */
  get session(): LazySession {
    return this.#actor.session;
  }

  /** Adds to the log when the conversation comes to it. */
  notify(draft: EventDraft): void {
    this.#actor.notify(draft);
  }

  /** Keeps the conversation in memory until it is disposed. */
  use(): Disposable {
    return this.#actor.queue.use();
  }

  /** MCP servers of its tools as they are; null where it has none, and until something has needed the tools. */
  get mcpServers(): McpServers | null {
    return this.#actor.mcpServers;
  }

  /** Opens the tools if they are not open, which connects all servers, and connects one anew; false when there is no such one. */
  async reconnectMcp(name: string): Promise<boolean> {
    using _use = this.#actor.queue.use();
    await this.#actor.session.open();
    return this.mcpServers?.reconnectMcp(name) === true;
  }

  /** Goes on where the last process stopped: calls that had started get their answers, then a run goes on if there was one. */
  async resume(): Promise<void> {
    await this.#actor.resume();
  }

  /** Ends a run with an error instead of going on with it. */
  async setAside(drafts: readonly EventDraft[]): Promise<void> {
    await this.#actor.setAside(drafts);
  }

  /** Opens what takes its time, such as MCP servers, before anybody asks for it. */
  async prepare(): Promise<void> {
    await this.#actor.session.open();
  }

  /**
   * Resolves with the id of the MessageEvent, the first one when this client message id was sent before. It is stored whatever state
   * the tools are in (P65); a run that needs them tells what is wrong.
   */
  async send(input: SendInput): Promise<Sent> {
    // Counted from here on: an idle conversation may be put away, one that opens its workspace for a message may not.
    using _use = this.#actor.queue.use();
    const session = await this.#actor.session.openWithin(toolPatienceMs);
    const admitted = await this.#actor.hooks?.admit(input.message);
    return await this.#actor.queue.post(() =>
      sendMessage(input, {
        ...this.#deps,
        session,
        config: this.config,
        secrets: this.secrets,
        titling: this.#actor.titling,
        commit: (decision, extra) => this.#actor.commit(decision, extra),
        ...(admitted === undefined ? {} : { admitted }),
      }),
    );
  }

  /** Sets the agent a goal: the objective is sent, and a judge is asked after each run; fails while one is in progress (409). */
  async startGoal(objective: string, maxIterations: number): Promise<void> {
    const content = [{ type: "text" as const, text: objective, cache_prompt: false }];
    const message = { role: "user" as const, content, thinking_blocks: [] };
    await this.send({ message, wantsRun: true, goal: { objective, maxIterations } });
  }

  /** Ends the goal that is pursued, if one is; a run in progress goes on to its end. */
  async stopGoal(): Promise<void> {
    await this.#actor.command(decideGoalStop);
  }

  /** Goes on with a goal that was interrupted; fails while a run is in progress and when there is none (409). */
  async resumeGoal(): Promise<void> {
    await this.#actor.command(decideGoalResume);
  }

  /**
   * Ends plan mode: in one commit the agent gets its tools for the work, and is told to carry its plan out, with what the person adds.
   * Fails while something is at work or waits (409), and for an agent that does not plan (409).
   */
  async approvePlan(words: string | null): Promise<void> {
    const { log, queue, runner } = this.#actor;
    refuseApprovingPlan(this.config.agent, log.state, runner.isWorking);
    await runner.ended();
    const content = [{ type: "text" as const, text: approvalMessage(words), cache_prompt: false }];
    const message = { role: "user" as const, content, thinking_blocks: [] };
    const admitted = await this.#actor.hooks?.admit(message);
    await queue.post(async () => {
      const { agent } = this.config;
      refuseApprovingPlan(agent, log.state, runner.isAlive);
      await sendMessage(
        { message, wantsRun: true },
        {
          ...this.#deps,
          // Its tools go; a run that finds no system prompt yet brings one with those that come.
          session: null,
          config: this.config,
          secrets: this.secrets,
          titling: this.#actor.titling,
          commit: (decision, extra) =>
            this.#actor.commitChange({ agent: workingAgent(agent) }, decision, extra),
          ...(admitted === undefined ? {} : { admitted }),
        },
      );
    });
  }

  async run(): Promise<void> {
    await this.#actor.command(decideRun);
  }

  async accept(): Promise<void> {
    await this.#actor.command(decideAccept);
  }

  async reject(reason: string): Promise<void> {
    await this.#actor.command((state) => decideReject(state, reason, this.#actor.runner.executing));
  }

  /** Accepts or rejects some of what waits; fails when an action is unknown (404) or settled (409). */
  async answer(answers: readonly ApprovalAnswer[]): Promise<void> {
    await this.#actor.queue.post(async () => {
      const waiting = new Set(awaiting(this.#actor.log.state).map(({ id }) => id));
      const isKnown = answers.every(({ action_id: id }) => waiting.has(id))
        ? () => true
        : await this.#knownIds();
      await this.#actor.commit(decideAnswers(this.#actor.log.state, answers, isKnown));
    });
  }

  /** Messages that the agent has not read yet, oldest first. */
  queued(): QueuedMessage[] {
    return queuedMessages(this.#actor.log.state, this.#actor.runner.beingReadSeq);
  }

  /** Takes a queued message back (P44); fails when it is unknown (404) or read (409). */
  async dequeue(eventId: string): Promise<void> {
    await this.#actor.queue.post(async () => {
      const isKnown = await this.#knownIds("MessageEvent");
      const readSeq = this.#actor.runner.beingReadSeq;
      await this.#actor.commit(decideDequeue(this.#actor.log.state, eventId, readSeq, isKnown(eventId)));
    });
  }

  /** A question beside the task; only what it cost enters the log. */
  async ask(question: string, signal: AbortSignal): Promise<string> {
    using _use = this.#actor.queue.use();
    const session = await this.#actor.session.open();
    const either = AbortSignal.any([signal, this.#actor.closing]);
    return await askBeside(
      {
        session,
        asksForRisk: readsPrediction(this.config.security_analyzer),
        log: this.#actor.log,
        post: (job) => this.#actor.queue.post(job),
        model: this.#actor.models.openHelper("ask-agent-llm"),
        cacheKey: this.id,
      },
      question,
      either,
    );
  }

  /** Replaces the oldest part by a summary; see {@link condenseNow}. */
  async condense(): Promise<void> {
    await condenseNow(
      {
        conversationId: this.id,
        log: this.#actor.log,
        post: (job) => this.#actor.queue.post(job),
        condensing: this.#actor.condensing,
        config: () => this.config,
        isRunning: () => this.#actor.runner.isAlive,
      },
      await this.#actor.session.open(),
    );
  }

  /** Goes on from another event, see {@link decideNavigation}; fails while a run is in progress or a goal is pursued (409). */
  async navigate(eventId: string | null): Promise<void> {
    const { log, queue, runner } = this.#actor;
    refuseWhileWorking(log.state, runner.isWorking);
    // A run that has nothing more to do is over in a moment.
    await runner.ended();
    await queue.post(async () => {
      refuseWhileWorking(log.state, runner.isAlive);
      await this.#actor.commit(await decideNavigation(log, eventId));
    });
    this.#actor.publishFullState();
  }

  /** A title of at most `length` characters for the conversation as it is now; it is kept nowhere. */
  async proposeTitle(length?: number, llm: LLM | null = null): Promise<string> {
    return await this.#actor.titling.propose(length, llm);
  }

  async pause(): Promise<void> {
    try {
      await this.#actor.hold.halt(() => this.#actor.command(decidePause));
    } finally {
      this.#actor.leave();
    }
    this.#actor.publishFullState();
  }

  async interrupt(): Promise<void> {
    await this.#actor.hold.halt(() =>
      this.#actor.command((state) =>
        decideInterrupt(state, { kind: "InterruptEvent", source: "user" }, this.#working()),
      ),
    );
    await this.#actor.othersStopped();
    this.#actor.publishFullState();
  }

  /** Like interrupt; resolves with what the loop was doing before. No model call or tool starts after it resolves (P43). */
  async stop(): Promise<"RUNNING" | "STOPPED"> {
    let wasRunning = false;
    await this.#actor.hold.halt(() =>
      this.#actor.command((state) => {
        const working = this.#working();
        wasRunning = state.status === "running" || working.isWorking;
        if (!wasRunning) return { drafts: [] };
        return decideInterrupt(state, { kind: "PauseEvent", source: "user" }, working);
      }),
    );
    await this.#actor.othersStopped();
    if (wasRunning) this.#actor.publishFullState();
    return wasRunning ? "RUNNING" : "STOPPED";
  }

  /** Changes the configuration, and the model's credentials with it; each field that changes is told to clients. */
  async configure(
    change: Partial<ConversationConfig>,
    llmSecrets: ConversationSecrets["llm"] | null = null,
    warnings: readonly Warning[] = [],
  ): Promise<void> {
    await this.#actor.configuration.change(change, llmSecrets, warnings);
  }

  /** Adds or replaces secrets; durable and sealed when it resolves (W5). */
  async updateSecrets(sources: Readonly<Record<string, SecretSource>>): Promise<void> {
    await this.#actor.configuration.addSecrets(sources);
  }

  /** Tells in the log which fields of a request that was carried out change nothing, each once. Never rejects. */
  async tellUnused(fields: readonly string[]): Promise<void> {
    const { log, queue } = this.#actor;
    try {
      await queue.post(async () => {
        const value = unusedWarning(fields, log.state.unusedFields);
        if (value !== null) await log.append([warning(value)]);
      });
    } catch (error) {
      // The request is carried out: its failure now would have it sent again.
      this.#deps.logger.warn(
        { conversation: this.id, error: String(error) },
        "unused fields could not be told",
      );
    }
  }

  async setTitle(title: string | null): Promise<void> {
    await this.#actor.queue.post(async () => {
      await this.#actor.log.append([stateUpdate("title", title)], { patch: { title } });
      this.#actor.titling.isNamed = title !== null;
    });
  }

  /** See {@link standingFrame}. */
  standingFrame(): string {
    return standingFrame(this.#actor.log.state, this.#actor.runner.beingReadSeq);
  }

  /** How the conversation stands, as sockets send it first. */
  fullStateFrame(): string {
    return this.#actor.fullStateFrame();
  }

  /** Stops working without changing the status: a run that was in progress goes on after the next load. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#deps.people[Symbol.asyncDispose](), this.#actor[Symbol.asyncDispose]()]);
  }

  /** The same, where another process goes on with it: what its tools do in a sandbox is not stopped. */
  async handOver(): Promise<void> {
    await Promise.all([this.#deps.people[Symbol.asyncDispose](), this.#actor.handOver()]);
  }

  /** The same, where another process has it already. */
  async lose(): Promise<void> {
    await Promise.all([this.#deps.people[Symbol.asyncDispose](), this.#actor.lose()]);
  }

  /** Resolves when its state has all that is in its log by now: who follows the log is told before. */
  async settled(): Promise<void> {
    await this.#actor.queue.afterAll(() => {});
  }

  /** What is in progress; the words of the model may end in the middle of a secret (P13). */
  #working(): { readonly isWorking: boolean; readonly said: string } {
    const { isWorking, said } = this.#actor.runner;
    return { isWorking, said: maskCut(said, secretValues(this.secrets)) };
  }

  /** Tells ids that ever were in this log, of one kind of event if one is named. */
  async #knownIds(kind: string | null = null): Promise<(id: string) => boolean> {
    const view = await this.#actor.log.wholeView();
    const known = view.filter(({ event }) => kind === null || event.kind === kind);
    const ids = new Set(known.map(({ event }) => event.id));
    return (id) => ids.has(id);
  }
}
