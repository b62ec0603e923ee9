import type { LLM, MetricsSnapshot } from "@convoke/protocol";
import { AgentRequests } from "../agent/agent-requests.ts";
import { Condensing } from "../agent/condense/condensing.ts";
import { withCondenserSecrets } from "../agent/condense/condenser-settings.ts";
import type { ViewEvent } from "../agent/history-view.ts";
import type { EventDraft, StampedEvent } from "../events/event-draft.ts";
import type { McpServers } from "../extensions/mcp/mcp-status.ts";
import { ended } from "../lib/ended.ts";
import type { Model } from "../models/model.ts";
import { titleUsageId } from "../agent/title.ts";
import { ApprovalClock } from "./commands/approval-clock.ts";
import { decideTimeout } from "./commands/approvals.ts";
import { bookedModel } from "../spending/booked-model.ts";
import { ownBudget } from "./budget.ts";
import { Configuration } from "./configuration.ts";
import type { ConversationConfig, ConversationSecrets } from "./conversation-config.ts";
import type { ConversationDeps } from "./conversation-deps.ts";
import type { ConversationLog } from "./conversation-log.ts";
import type { ConversationState } from "./state/conversation-state.ts";
import { decideAbandoned, stateUpdate, type Decision } from "./decide.ts";
import { fullStateFrame } from "./state/describe.ts";
import { firstEvents } from "./run/first-events.ts";
import { Hold } from "./run/hold.ts";
import { GoalLoop } from "./goals/goal-loop.ts";
import type { HookGate } from "./run/hook-gate.ts";
import { LazySession } from "./sessions/lazy-session.ts";
import type { RunDeps } from "./run/run-deps.ts";
import { Runner } from "./run/runner.ts";
import { lostCall, settleStarted } from "./run/settle-started.ts";
import { RunEnd } from "./run/run-end.ts";
import { withRunFacts, type RunFacts } from "./run-facts.ts";
import type { Signals } from "./signals.ts";
import { addCalls } from "./state/stats.ts";
import { Titling } from "./titling.ts";
import { WorkQueue } from "./run/work-queue.ts";
import { wait } from "../lib/wait.ts";

/** What works elsewhere has so long to stop before a stop is answered. */
const stopGraceMs = 2_000;

/** So long a message, and what a crash left open, wait for tools to be there; then they go on without them (P65). */
export const toolPatienceMs = 5_000;

/** What a conversation works with, tied together: from a decision to its events, and from the events to the work. */
export class Actor implements AsyncDisposable {
  readonly log: ConversationLog;
  readonly signals: Signals;
  readonly queue: WorkQueue;
  readonly hold: Hold;
  readonly configuration: Configuration;
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
  readonly #stopping = new Set<Promise<unknown>>();
  /** Calls that were open when this process took the conversation over: an earlier one may have begun them. */
  readonly #left = new Set<string>();
  readonly #runEnd = new RunEnd({
    publish: () => this.publishFullState(),
    standing: () => `${this.log.state.status} ${this.log.state.lastUserMessageId}`,
  });
  /** As long as its view is in memory. */
  readonly #requests = new WeakMap<readonly ViewEvent[], AgentRequests>();
  #opened: {
    readonly config: ConversationConfig;
    readonly secrets: ConversationSecrets;
    readonly model: Model;
  } | null = null;
  #disposal: Promise<void> | null = null;

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
      isHeld: () => this.hold.isOn,
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
        stopping: (others) => this.#stopping.add(others),
        config: () => this.config,
        budget: () => ownBudget(this.config, this.log.state),
        hasAskedForBrowser: () => this.log.state.hasAskedForBrowser,
        stats: () => this.log.state.stats,
        putStats: (usageId, total) => this.#putStats(usageId, total),
      }),
    );
    this.configuration = new Configuration({ ...deps, post });
    this.hooks =
      deps.openHooks?.(deps.config, {
        openModel: () => this.openHelper("hook-llm"),
        notify: (draft) => this.notify(draft),
        lost: this.#lost.signal,
      }) ?? null;
    this.condensing = new Condensing({
      openModel: (settings) => {
        const model = this.#openOtherModel(withCondenserSecrets(settings, this.secrets));
        return this.#booked(model, settings.llm);
      },
      warn: (fields) =>
        deps.logger.warn({ conversation: deps.id, ...fields }, "summary could not be written"),
    });
    this.goals = new GoalLoop({
      conversationId: deps.id,
      log: deps.log,
      post,
      commit: (decision) => this.commit(decision),
      openModel: () => this.openHelper("goal-judge-llm"),
      logger: deps.logger,
    });
    this.titling = new Titling({
      conversationId: deps.id,
      log: deps.log,
      post,
      openModel: (other) => this.openHelper(titleUsageId, other),
      findTitleModel: () => this.#findTitleModel(),
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

  async resume(): Promise<void> {
    await this.queue.post(async () => {
      try {
        await this.#settleLeft();
        await this.#interruptAttended();
      } finally {
        this.runner.ensure();
        this.goals.check();
      }
    });
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
    const others = [...this.#stopping];
    this.#stopping.clear();
    if (others.length === 0) return;
    const isOver = new AbortController();
    await Promise.race([Promise.allSettled(others), wait(stopGraceMs, isOver.signal)]);
    isOver.abort(ended);
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
    this.#disposal ??= this.#dispose();
    await this.#disposal;
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
    await this.#deps.journal.release(this.log.lease);
  }

  async #endHooks(): Promise<void> {
    if (this.hooks === null) return;
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

  async #settleLeft(): Promise<void> {
    const left = this.log.state.openActions.filter(({ gate }) => gate === "approved");
    for (const { id } of left) this.#left.add(id);
    if (left.length === 0) return;
    const session = await this.session.openWithin(toolPatienceMs);
    const isFromElsewhere = this.log.lease.isFromElsewhere === true;
    // A run that goes on asks about each call again, and finds no record of what was begun elsewhere.
    if (session === null && !isFromElsewhere) return;
    const drafts =
      session === null ? left.map(lostCall) : await settleStarted(left, session, isFromElsewhere);
    if (drafts.length > 0) await this.log.append(drafts);
  }

  /** The process that a run belonged to has ended without it: it goes on only when somebody asks (P64). */
  async #interruptAttended(): Promise<void> {
    const { state } = this.log;
    if (state.status === "running" && state.isAttended) await this.log.append(decideAbandoned(state).drafts);
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
      mayHaveBegun: (actionId) => this.#left.has(actionId),
      firstEvents: (session) =>
        firstEvents({
          session,
          config: this.config,
          secrets: this.secrets,
          workspaceDir: this.#deps.workspaceDir,
          nowMs: this.#deps.nowMs,
        }),
      openModel: () => this.openModel(),
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

  /** The agent's own model: the same one until the configuration changes, with its connections and what it has learnt of its provider. */
  openModel(): Model {
    const { config, secrets } = this;
    if (this.#opened?.config !== config || this.#opened.secrets !== secrets)
      this.#opened = { config, secrets, model: this.#deps.openModel(config, secrets) };
    return this.#opened.model;
  }

  /** A model for a call beside the run, booked under a name of its own; `other` brings its own credentials. */
  openHelper(usageId: string, other: LLM | null = null): Model {
    const model = other === null ? this.openModel() : this.#openOtherModel(other);
    return this.#booked(model, { ...(other ?? this.config.agent.llm), usage_id: usageId });
  }

  async #findTitleModel(): Promise<LLM | null> {
    const { title_llm_profile: name } = this.config;
    if (name === undefined) return null;
    const found = (await this.#deps.findModel?.(name)) ?? null;
    if (found === null) {
      const fields = { conversation: this.#deps.id, profile: name };
      this.#deps.logger.warn(fields, "the model for titles is not stored any more; the agent's writes it");
    }
    return found;
  }

  #booked(model: Model, llm: LLM): Model {
    return bookedModel(model, async (calls) => {
      try {
        await this.queue.post(() => this.log.append([addCalls(this.log.state.stats, llm, calls)]));
      } catch (error) {
        // The ledger has it, and an answer that somebody waits for is not lost for a number.
        const fields = { conversation: this.#deps.id, error: String(error) };
        this.#deps.logger.warn(fields, "what a call cost is not in the stats");
      }
    });
  }

  /** A model beside the agent's, with its credentials in it. */
  #openOtherModel(llm: LLM): Model {
    const config = { ...this.config, agent: { ...this.config.agent, llm } };
    return this.#deps.openModel(config, { ...this.secrets, llm: {} });
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
      this.log.append(withRunFacts([...decision.drafts, ...drafts], this.#runFacts()), { ...extra, patch }),
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
