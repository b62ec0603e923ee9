import type { Cluster } from "../cluster/cluster.ts";
import { describeError } from "../lib/describe-error.ts";
import type { Logger } from "../lib/logger.ts";
import type { wait } from "../lib/wait.ts";
import type { AutomationRun } from "./automation.ts";
import type { AutomationStore } from "./automation-store.ts";
import { ClockWatch } from "./clock-watch.ts";
import { ForeignClaims } from "./foreign-claims.ts";
import { placeRuns, planDue, planQueued } from "./plan-runs.ts";
import type { RunConversations } from "./run-conversations.ts";
import { RunRounds } from "./run-rounds.ts";
import { RunSettler } from "./run-settler.ts";
import { RunStarter } from "./run-starter.ts";
import { RunningStarts } from "./running-starts.ts";
import { createSchedule } from "./schedule.ts";
import type { Occurrence, Triggered, TriggerPort } from "./trigger-port.ts";

export type SchedulerDeps = {
  readonly store: AutomationStore;
  readonly conversations: RunConversations;
  readonly cluster: Pick<Cluster, "nodeId" | "nodes" | "nowMs">;
  readonly wait: typeof wait;
  readonly logger: Logger;
};

/** How often a node polls for what other nodes have stored or left behind. */
const pollMs = 1_000;
/** Between two rounds at least: a due time that cannot be recorded must not keep the process busy. */
const leastPauseMs = 25;
const dueBatch = 50;
const openBatch = 200;

/**
 * Starts runs at their due times. All nodes of a store do this: of each due time one of them stores the run, in the transaction that moves the
 * automation to its next due time. What is stored is carried out afterwards, by this node or, after its end, by another one.
 */
export class Scheduler implements TriggerPort, AsyncDisposable {
  readonly #deps: SchedulerDeps;
  readonly #starts: RunningStarts;
  readonly #settler: RunSettler;
  readonly #clockWatch: ClockWatch;
  readonly #claims: ForeignClaims;
  readonly #claimed: RunRounds;
  readonly #queued: RunRounds;
  readonly #closing = new AbortController();
  #wake = new AbortController();
  #loop: Promise<void> = Promise.resolve();

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    const shared = { ...deps, clock: deps.cluster };
    this.#starts = new RunningStarts({
      starter: new RunStarter(shared),
      signal: this.#closing.signal,
      logger: deps.logger,
    });
    this.#settler = new RunSettler(shared);
    this.#clockWatch = new ClockWatch(deps.cluster);
    this.#claimed = new RunRounds(deps.store, "claimed", openBatch);
    this.#queued = new RunRounds(deps.store, "queued", openBatch);
    this.#claims = new ForeignClaims(deps);
  }

  /** Begins to start runs, until it is disposed of. */
  open(): void {
    this.#loop = this.#run();
  }

  /** Call when an automation has changed: its due time may be the next one. */
  wake(): void {
    this.#wake.abort();
  }

  /** Call when a run of a conversation has ended and its end is stored. */
  async onRunEnd(conversationId: string): Promise<void> {
    await this.#settler.settleConversation(conversationId);
  }

  async trigger(automationId: string, occurrence: Occurrence): Promise<Triggered | null> {
    const { origin, key, payload } = occurrence;
    const { store, conversations, cluster } = this.#deps;
    await this.#settler.settleOf(automationId);
    const draft = {
      dueKey: `${origin}:${key}`,
      origin,
      dueAtMs: cluster.nowMs(),
      payload: payload === null ? null : JSON.stringify(payload),
    };
    const recorded = await store.record(automationId, cluster.nodeId, ({ automation, active }) => {
      const isPaused = automation.isPaused && origin !== "manual";
      const refusal = isPaused
        ? "The automation is paused."
        : (occurrence.refusal ?? conversations.refusalOf(automation.ownerId));
      const { nextDueMs } = automation;
      if (refusal === null) return { ...placeRuns([draft], active, automation.overlap), nextDueMs };
      const skipped = { ...draft, state: "skipped", reason: refusal } as const;
      return { runs: [skipped], replaced: [], claimed: [], nextDueMs };
    });
    const [run] = recorded?.runs ?? [];
    if (run !== undefined) {
      this.#begin([run]);
      return { run, isRepeated: false };
    }
    const [known] = recorded?.known ?? [];
    return known === undefined ? null : { run: known, isRepeated: true };
  }

  /** Records the runs of all due times up to now, and begins to start them. True when there may be more. */
  async startDue(): Promise<boolean> {
    const { store, cluster } = this.#deps;
    const nowMs = cluster.nowMs();
    if (this.#clockWatch.hasGoneBack()) await this.#planAgain(nowMs);
    const due = await store.due(nowMs, dueBatch);
    // Nodes that begin at different ends get less into each other's way.
    const mixed = due.toSorted(() => Math.random() - 0.5);
    for (const { id, ownerId } of mixed) {
      if (this.#closing.signal.aborted) return false;
      await this.#starts.untilRoom();
      await this.#settler.settleOf(id);
      const refusal = this.#deps.conversations.refusalOf(ownerId);
      const recorded = await store.record(id, cluster.nodeId, (base) => planDue(base, nowMs, refusal));
      this.#begin(recorded?.runs ?? []);
    }
    return due.length === dueBatch;
  }

  /** Continues what other nodes or earlier processes have stored and not carried out. */
  async resume(): Promise<void> {
    const { store, cluster } = this.#deps;
    const waiting = (await this.#claimed.next()).filter(({ id }) => !this.#starts.has(id));
    this.#begin(await this.#claims.choose(waiting));
    await this.#settler.settleSome();
    const queued = await this.#queued.next();
    for (const automationId of new Set(queued.map((run) => run.automationId))) {
      await this.#settler.settleOf(automationId);
      this.#begin((await store.record(automationId, cluster.nodeId, planQueued))?.runs ?? []);
    }
  }

  /** Resolves when nothing is being started here. */
  async settled(): Promise<void> {
    await this.#starts.settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.wake();
    await this.#loop;
    await this.#starts.settled();
  }

  /** The clock was set back: due times between now and then come again, and those that have a run are not started twice. */
  async #planAgain(nowMs: number): Promise<void> {
    const { store, cluster } = this.#deps;
    for (const kind of ["cron", "interval"] as const)
      for (const { id } of await store.ofKind(kind))
        await store.record(id, cluster.nodeId, ({ automation: { trigger, nextDueMs } }) => {
          const next = createSchedule(trigger).next(nowMs);
          const isLate = nextDueMs !== null && next !== null && next < nextDueMs;
          return isLate ? { runs: [], replaced: [], claimed: [], nextDueMs: next } : null;
        });
  }

  #begin(runs: readonly AutomationRun[]): void {
    this.#starts.begin(runs.filter(({ state }) => state === "claimed"));
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let lastPollMs = -Infinity;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      let pauseMs = pollMs;
      try {
        if (performance.now() - lastPollMs >= pollMs) {
          lastPollMs = performance.now();
          await this.resume();
        }
        const hasMore = await this.startDue();
        const dueMs = hasMore ? 0 : ((await this.#deps.store.earliestDueMs()) ?? Infinity);
        const untilDueMs = dueMs - this.#deps.cluster.nowMs();
        const untilPollMs = lastPollMs + pollMs - performance.now();
        pauseMs = Math.max(leastPauseMs, Math.min(untilDueMs, untilPollMs));
      } catch (error) {
        this.#deps.logger.error({ error: describeError(error) }, "automations could not be started");
      }
      await this.#deps.wait(pauseMs, AbortSignal.any([signal, this.#wake.signal]));
    }
  }
}
