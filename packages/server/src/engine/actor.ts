import { onceUnlessRejected } from "@convoke/protocol";
import type { MetricsSnapshot } from "@convoke/protocol";
import { AgentRequests } from "../agent/agent-requests.ts";
import { Condensing } from "../agent/condense/condensing.ts";
import type { ViewEvent } from "../agent/history-view.ts";
import type { EventDraft, StampedEvent } from "../events/event-draft.ts";
import type { McpServers } from "../extensions/mcp/mcp-status.ts";
import { ended } from "../lib/ended.ts";
import { wait } from "../lib/wait.ts";
import { titleUsageId } from "../agent/title.ts";
import { ApprovalClock } from "./commands/approval-clock.ts";
import { decideTimeout } from "./commands/approvals.ts";
import { ownBudget } from "./budget.ts";
import { Configuration } from "./configuration.ts";
import type { ConversationConfig, ConversationSecrets } from "./conversation-config.ts";
import type { ConversationDeps } from "./conversation-deps.ts";
import type { ConversationLog } from "./conversation-log.ts";
import { ConversationModels } from "./conversation-models.ts";
import type { ConversationState } from "./state/conversation-state.ts";
import { stateUpdate } from "../events/state-update.ts";
import type { Decision } from "./commands/decide.ts";
import { fullStateFrame } from "./state/describe.ts";
import { firstEvents } from "./run/first-events.ts";
import { Hold } from "./run/hold.ts";
import { GoalLoop } from "./commands/goal-loop.ts";
import type { HookGate } from "./run/hook-gate.ts";
import { LeftWork } from "./left-work.ts";
import { LazySession } from "./lazy-session.ts";
import { StoppingWork } from "./stopping-work.ts";
import type { RunDeps } from "./run/run-deps.ts";
import { Runner } from "./run/runner.ts";
import { RunEnd } from "./run/run-end.ts";
import { withRunFacts, type RunFacts } from "./run/run-facts.ts";
import type { Signals } from "./signals.ts";
import { Titling } from "./titling.ts";
import { WorkQueue } from "./run/work-queue.ts";

/** What a conversation works with, tied together: from a decision to its events, and from the events to the work. */
export class Actor implements AsyncDisposable {
  readonly log: ConversationLog;
  readonly signals: Signals;
  readonly queue: WorkQueue;
  readonly hold: Hold;
  readonly configuration: Configuration;
  readonly models: ConversationModels;
  readonly condensing: Condensing;
  readonly titling: Titling;
  readonly goals: GoalLoop;
  readonly session: LazySession;
  readonly runner: Runner;
  readonly hooks: HookGate | null;
  /** Of the session that was opened last. */
  mcpServers: McpServers | null = null;
  readonly #deps: ConversationDeps;
  readonly #clock: ApprovalClock;
  readonly #closing = new AbortController();
  readonly #handedOver = new AbortController();
  readonly #lost = new AbortController();
  readonly #others = new StoppingWork();
  readonly #left: LeftWork;
  readonly #runEnd = new RunEnd({
    publish: () => this.publishFullState(),
    standing: () => `${this.log.state.status} ${this.log.state.lastUserMessageId}`,
  });
  /** As long as its view is in memory. */
  readonly #requests = new WeakMap<readonly ViewEvent[], AgentRequests>();
  readonly #endWork = onceUnlessRejected(() => this.#dispose());
  readonly #release = onceUnlessRejected(() => this.#deps.journal.release(this.log.lease));
  #hasEndedHooks = false;

  constructor(deps: ConversationDeps) {
    this.#deps = deps;
    this.log = deps.log;
    this.signals = deps.signals;
    this.hold = new Hold(deps.logger);
    this.#clock = new ApprovalClock({ onDeadline: () => this.#answerOverdue(), nowMs: deps.nowMs });
    this.queue = new WorkQueue({
      nowMs: deps.nowMs,
      onTurn: () => deps.activity?.turnTo(deps.id),
      isSettling: () => this.runner.isAlive,
      onDone: () => this.#clock.set(this.log.state.approvalDeadlineMs),
      onLost: () => {
        this.#handedOver.abort();
        this.#closing.abort(ended);
        this.runner.abort();
        deps.onLost();
      },
    });
    const post: RunDeps["post"] = (job) => this.queue.post(job);
    this.runner = new Runner({
      log: deps.log,
      queue: this.queue,
      isHeld: () => this.hold.isOn || this.#left.isUnsettled,
      begin: () => {
        deps.keptViews?.take(deps.log);
        this.#runEnd.begin();
        return deps.activity?.begin(deps.id);
      },
      runDeps: () => this.#runDeps(post),
      onEnded: () => {
        if (deps.keptViews === undefined) deps.log.forgetView();
        else deps.keptViews.keep(deps.log);
        this.#runEnd.tell();
        this.goals.check();
      },
    });
    this.session = new LazySession(() =>
      deps.openSession(this.config, {
        secrets: () => this.secrets,
        notify: (draft) => this.notify(draft),
        closing: this.closing,
        handedOver: this.#handedOver.signal,
        onMcpServers: (servers) => (this.mcpServers = servers),
        stopping: (others) => this.#others.add(others),
        config: () => this.config,
        budget: () => ownBudget(this.config, this.log.state),
        hasAskedForBrowser: () => this.log.state.hasAskedForBrowser,
        openHelper: (usageId, other) => this.models.openHelper(usageId, other),
        stats: () => this.log.state.stats,
        putStats: (usageId, total) => this.#putStats(usageId, total),
      }),
    );
    this.#left = new LeftWork({ log: deps.log, session: this.session });
    this.configuration = new Configuration({ ...deps, post });
    this.models = new ConversationModels({
      ...deps,
      config: () => this.config,
      secrets: () => this.secrets,
      post,
    });
    this.hooks =
      deps.openHooks?.(deps.config, {
        openModel: () => this.models.openHelper("hook-llm"),
        notify: (draft) => this.notify(draft),
        lost: this.#lost.signal,
      }) ?? null;
    this.condensing = new Condensing({
      openModel: (settings) => this.models.openCondenser(settings),
      warn: (fields) =>
        deps.logger.warn({ conversation: deps.id, ...fields }, "summary could not be written"),
    });
    this.goals = new GoalLoop({
      conversationId: deps.id,
      log: deps.log,
      post,
      commit: (decision) => this.commit(decision),
      openModel: () => this.models.openHelper("goal-judge-llm"),
      logger: deps.logger,
    });
    this.titling = new Titling({
      conversationId: deps.id,
      log: deps.log,
      post,
      openModel: (other) => this.models.openHelper(titleUsageId, other),
      findTitleModel: () => this.models.findTitleModel(),
      isNamed: (deps.title ?? null) !== null,
      logger: deps.logger,
    });
  }

  get config(): ConversationConfig {
    return this.configuration.config;
  }

  get secrets(): ConversationSecrets {
    return this.configuration.secrets;
  }

  /** Aborts when the conversation leaves this process. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** True while something waits for an answer that has a deadline. */
  get isAnswerDue(): boolean {
    return this.#clock.isSet;
  }

  /** Settles first what the last process left open, which waits for the store; until then no run begins. */
  async resume(): Promise<void> {
    for (let delayMs = 100; !this.closing.aborted; delayMs = Math.min(delayMs * 2, 5000)) {
      try {
        return await this.queue.post(() => this.#goOn());
      } catch (error) {
        if (!this.#left.isUnsettled) throw error;
        const fields = { conversation: this.#deps.id, error: String(error), retryInMs: delayMs };
        this.#deps.logger.warn(fields, "what was left open could not be settled yet");
        await wait(delayMs, this.closing);
      }
    }
  }

  async #goOn(): Promise<void> {
    try {
      await this.#left.settle();
    } finally {
      this.runner.ensure();
      this.goals.check();
    }
  }

  /** Ends a run that must not be gone on with by itself; nothing is opened for it. */
  async setAside(drafts: readonly EventDraft[]): Promise<void> {
    await this.queue.post(async () => {
      if (this.log.state.status === "running") await this.log.append(drafts);
    });
  }

  /** Tells everyone who listens now how the conversation stands; stored nowhere. */
  publishFullState(): void {
    // After another process has taken over, this state is an old one, and whoever listens has read on (P36).
    if (this.signals.isHeard && !this.queue.isLost) this.signals.emit(this.fullStateFrame());
  }

  fullStateFrame(): string {
    const { id, nowMs } = this.#deps;
    return this.log.mask(fullStateFrame(this.config, this.secrets, this.log.state, id, nowMs()));
  }

  /** No further request to a model begins for the run that a client has paused; what is in progress goes on to its end. */
  leave(): void {
    if (this.log.state.status === "running" && !this.hold.isOn) return;
    this.runner.leave();
    this.condensing.leave();
  }

  /** Resolves when the work that tools gave to others has stopped too (P43); not later than after two seconds. */
  async othersStopped(): Promise<void> {
    await this.#others.stopped();
  }

  /** Ends it here; what tools do in a sandbox goes on, for the process that goes on with the conversation. */
  async handOver(): Promise<void> {
    this.#handedOver.abort();
    await this[Symbol.asyncDispose]();
  }

  /** The same where another process has its log already: nothing of it starts here any more, not even what would at its end. */
  async lose(): Promise<void> {
    this.queue.lose();
    this.#lost.abort(ended);
    await this.handOver();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#endWork();
    await this.#release();
  }

  async #dispose(): Promise<void> {
    this.queue.close();
    this.hold.end();
    this.#runEnd[Symbol.dispose]();
    this.#closing.abort(ended);
    this.#clock.set(null);
    this.runner.abort();
    await this.runner.ended();
    await this.condensing.close();
    await this.titling.close();
    await this.goals.close();
    await this.queue.drain();
    await this.#endHooks();
    await this.session[Symbol.asyncDispose]();
    this.#deps.keptViews?.take(this.log);
  }

  async #endHooks(): Promise<void> {
    if (this.hooks === null || this.#hasEndedHooks) return;
    this.#hasEndedHooks = true;
    await using hooks = this.hooks;
    try {
      const records = this.queue.isLost ? [] : await hooks.end();
      if (records.length > 0) await this.log.append(records);
    } catch (error) {
      // The conversation ends all the same; its last hooks are only not on record.
      this.#deps.logger.warn(
        { conversation: this.#deps.id, error: String(error) },
        "end of hooks not recorded",
      );
    }
  }

  #runFacts(): RunFacts {
    const { settings_version: settingsVersion } = this.config;
    return {
      ...(settingsVersion === undefined ? {} : { settingsVersion }),
      ...(this.#deps.isAttended === true ? { isAttended: true } : {}),
    };
  }

  #runDeps(post: RunDeps["post"]): RunDeps {
    const { observer, fetch } = this.#deps;
    return {
      conversationId: this.#deps.id,
      log: this.log,
      post,
      isHeld: () => this.hold.isOn,
      openSession: () => this.session.open(),
      mayHaveBegun: (actionId) => this.#left.mayHaveBegun(actionId),
      firstEvents: (session) =>
        firstEvents({
          session,
          config: this.config,
          secrets: this.secrets,
          workspaceDir: this.#deps.workspaceDir,
          nowMs: this.#deps.nowMs,
        }),
      openModel: () => this.models.openOwn(),
      requestsOf: (view) => this.#requestsOf(view),
      condensing: this.condensing,
      config: () => this.config,
      secrets: () => this.secrets,
      signals: this.signals,
      hooks: this.hooks,
      overBudget: async () => (await this.#deps.overBudget?.()) ?? null,
      nowMs: this.#deps.nowMs,
      validator: this.#deps.validator,
      logger: this.#deps.logger,
      ...(fetch === undefined ? {} : { fetch }),
      ...(observer === undefined ? {} : { observer }),
    };
  }

  #requestsOf(view: readonly ViewEvent[]): AgentRequests {
    const known = this.#requests.get(view);
    const requests = known ?? new AgentRequests();
    if (known === undefined) this.#requests.set(view, requests);
    return requests;
  }

  #answerOverdue(): void {
    const { approval_policy: policy } = this.config;
    if (!policy) return;
    this.command((state) => decideTimeout(state, policy)).catch((error: unknown) => {
      this.#deps.logger.warn(
        { conversation: this.#deps.id, error: String(error) },
        "the default answer was not recorded",
      );
    });
  }

  /** Decides inside the mailbox and records what comes of it. */
  async command(decide: (state: ConversationState) => Decision): Promise<void> {
    await this.queue.post(async () => {
      await this.commit(decide(this.log.state));
    });
  }

  /** Records a decision and starts what follows from it; to be called inside the mailbox. */
  async commit(
    decision: Decision,
    extra: Parameters<ConversationLog["append"]>[1] = {},
  ): Promise<StampedEvent[]> {
    if (decision.isAbort === true) {
      this.runner.abort();
      this.condensing.abort();
    }
    if (decision.drafts.length === 0) return [];
    const stamped = await this.log.append(withRunFacts(decision.drafts, this.#runFacts()), extra);
    this.runner.ensure();
    return stamped;
  }

  /** Like commit, with a change of the configuration in the same commit; the tools are opened anew for it. */
  async commitChange(
    change: Partial<ConversationConfig>,
    decision: Decision,
    extra: Parameters<ConversationLog["append"]>[1] = {},
  ): Promise<StampedEvent[]> {
    const stamped = await this.configuration.changeWith(change, (drafts, patch) =>
      this.log.append(withRunFacts([...decision.drafts, ...drafts], this.#runFacts()), {
        ...extra,
        patch: { ...extra.patch, ...patch },
      }),
    );
    this.session.renew();
    this.runner.ensure();
    return stamped;
  }

  async #putStats(usageId: string, total: MetricsSnapshot): Promise<void> {
    await this.queue.post(() => {
      const all = { ...this.log.state.stats, [usageId]: total };
      return this.log.append([stateUpdate("stats", { usage_to_metrics: all })]);
    });
  }

  /** Adds to the log when the conversation comes to it. */
  notify(draft: EventDraft): void {
    this.queue
      .post(() => this.log.append([draft]))
      .catch((error: unknown) => {
        this.#deps.logger.warn(
          { conversation: this.#deps.id, error: String(error) },
          "a notice could not be stored",
        );
      });
  }
}
