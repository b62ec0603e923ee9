import { ClientCalls } from "./client-calls.ts";
import { AcpTurns } from "./acp/acp-turns.ts";
import { Condensing } from "../agent/condense/condensing.ts";
import { decideTimeout } from "./commands/approvals.ts";
import { DeadlineTimer } from "./deadline-timer.ts";
import { GoalLoop } from "./goal-loop.ts";
import { Configuration } from "./configuration.ts";
import type { ConversationDeps } from "./conversation-deps.ts";
import { ConversationModels } from "./conversation-models.ts";
import { createSessionContext } from "./create-session-context.ts";
import { Halts } from "./halts.ts";
import { LazySession } from "./lazy-session.ts";
import { Lifetime } from "./lifetime.ts";
import { PublishedState } from "./published-state.ts";
import { Hold } from "./run/hold.ts";
import { HookSlot, type HookGate } from "./hook-gate.ts";
import { RunEnd } from "./run/run-end.ts";
import { Runner, type RunListener } from "./run/runner.ts";
import { timeLimitOf } from "./run/time-limits.ts";
import type { SharedParts } from "./shared-parts.ts";
import { Titling } from "./titling.ts";
import { UnfinishedRuns } from "./unfinished-runs.ts";
import { WorkQueue } from "./work-queue.ts";
import { Writer } from "./writer.ts";
import { AgentRequests } from "../agent/agent-requests.ts";
import { madeOnce } from "../lib/made-once.ts";

/** The parts of one conversation. Its actor exposes those that callers use directly. */
export type ConversationParts = SharedParts & {
  readonly clientCalls: ClientCalls;
  readonly approvalTimer: DeadlineTimer;
  /** Null for an agent with a model. */
  readonly acp: AcpTurns | null;
  readonly condensing: Condensing;
  readonly goals: GoalLoop;
  readonly halts: Halts;
  readonly hold: Hold;
  readonly hooks: HookSlot;
  /** Opens the hooks of the present configuration. */
  readonly openHooks: () => HookGate | null;
  readonly lifetime: Lifetime;
  readonly published: PublishedState;
  readonly runEnd: RunEnd;
  readonly runner: Runner;
  /** For the time limits of the current run. */
  readonly runTimer: DeadlineTimer;
  readonly session: LazySession;
  readonly titling: Titling;
  readonly unfinished: UnfinishedRuns;
  readonly writer: Writer;
};

/** Creates and connects the parts; starts nothing. */
export function createParts(deps: ConversationDeps): ConversationParts {
  const { activity, clock, holder, id, log, logger, signals, tools, viewCache } = deps;
  const lifetime = new Lifetime();
  const hold = new Hold(logger);
  const queue = new WorkQueue({
    activity,
    clock,
    id,
    owner: {
      isSettling: () => runner.isAlive,
      onDone: () => {
        approvalTimer.set(log.state.approvalDeadlineMs);
        runTimer.set(timeLimitOf(log.state, configuration.config)?.deadlineMs ?? null);
      },
      onLost: () => {
        lifetime.handOver();
        lifetime.close();
        runner.abort();
        holder.lost();
      },
    },
  });
  const configuration = new Configuration({ ...deps, queue });
  const models = new ConversationModels({ ...deps, configuration, queue });
  const shared: SharedParts = { clock, configuration, id, log, logger, models, queue };
  const session: LazySession = new LazySession(async () => {
    const context = createSessionContext({ ...shared, lifetime, session, writer });
    return await tools.openSession(configuration.config, context);
  });
  const unfinished = new UnfinishedRuns({ ...shared, session });
  const openHooks = (): HookGate | null =>
    tools.openHooks(configuration.config, {
      openModel: () => models.openHelper("hook-llm"),
      notify: (draft) => writer.notify(draft),
      lost: lifetime.lost,
    });
  const hooks = new HookSlot(openHooks());
  const condensing = new Condensing({
    openModel: (settings) => models.openCondenser(settings),
    warn: (fields) => logger.warn({ conversation: id, ...fields }, "summary could not be written"),
  });
  const listener: RunListener = {
    onBegin: () => {
      viewCache.take(log);
      runEnd.begin();
      return activity.begin(id);
    },
    onEnd: () => {
      viewCache.keep(log);
      runEnd.publish();
      goals.check();
    },
  };
  const work = { condensing, hold, hooks, session };
  const requests = madeOnce(() => new AgentRequests());
  const clientCalls = new ClientCalls(shared);
  const acp =
    configuration.config.agent.acp === undefined
      ? null
      : new AcpTurns(() => {
          published.publish();
          void queue.afterAll(() => runner.ensure());
        });
  const runner: Runner = new Runner(
    { ...deps, ...shared, ...work, acp, clientCalls, earlier: unfinished, requests },
    listener,
  );
  const published: PublishedState = new PublishedState({ ...shared, runner, signals });
  const runEnd = new RunEnd({ log, published });
  const { isAttended, title } = deps;
  const writer = new Writer({ ...shared, condensing, isAttended, runner, session });
  const halts = new Halts({ ...shared, condensing, hold, lifetime, published, runner, writer });
  const titling = new Titling({ ...shared, title });
  const goals = new GoalLoop({ ...shared, writer });
  const approvalTimer = new DeadlineTimer(clock, () => {
    const { approval_policy: policy } = configuration.config;
    if (!policy) return;
    writer
      .command((state) => decideTimeout(state, policy))
      .catch((error: unknown) => {
        logger.warn({ conversation: id, error: String(error) }, "the default answer was not recorded");
      });
  });
  const runTimer = new DeadlineTimer(clock, () => {
    halts.endInTime().catch((error: unknown) => {
      logger.warn(
        { conversation: id, error: String(error) },
        "the end of the run at its time limit was not recorded",
      );
    });
  });
  const around = {
    acp,
    clientCalls,
    openHooks,
    approvalTimer,
    lifetime,
    runEnd,
    runTimer,
    unfinished,
  };
  return { ...shared, ...work, ...around, goals, halts, published, runner, titling, writer };
}
