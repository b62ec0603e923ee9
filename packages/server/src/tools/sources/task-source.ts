import type { MetricsSnapshot, TaskAction } from "@convoke/protocol";
import type {
  ExecuteOptions,
  ExecutionRequest,
  ExecutionState,
  Outcome,
  ToolListing,
} from "@convoke/tool-host";
import { taskToolName } from "../../agent/task-tool-name.ts";
import { hasTasks, tasksHaveWorktrees } from "../../agent/tool-specs.ts";
import type { SubAgent } from "../../extensions/sub-agents/sub-agent.ts";
import { findSubAgents, subAgentNamed } from "../../extensions/sub-agents/sub-agent-set.ts";
import { describeError } from "../../lib/describe-error.ts";
import { Fault } from "../../lib/fault.ts";
import type { Logger } from "../../lib/logger.ts";
import { stateUpdate } from "../../events/state-update.ts";
import { LeftOpenError } from "../../engine/run/executions.ts";
import type { SkillAccess } from "../session-skills.ts";
import { SubConversation, TaskRefusedError, type SubConversationDeps } from "../tasks/sub-conversation.ts";
import { failed, listTaskTool, observe, titleOf, type SubTaskEnd } from "../tasks/task-tool.ts";
import {
  alwaysReady,
  noAnnounce,
  type OpenToolSource,
  type ToolPlace,
  type ToolSource,
} from "../tool-source.ts";

/** What sub-agents are found and worked with. */
export type TaskAccess = {
  /** Where sub-agents have their conversations. */
  readonly children: SubConversationDeps;
  /** Null where no file is read for them. */
  readonly skills: SkillAccess | null;
  readonly logger: Logger;
};

/** A tool that gives work to sub-agents. */
export function openTasks(access: TaskAccess): OpenToolSource {
  return async (place) => {
    if (!hasTasks(place.context.config.agent)) return null;
    const agents = await findAgents(access, place);
    return agents === null ? null : new TaskSource({ ...access, ...place, agents });
  };
}

/** The sub-agents of a conversation; null in that of a sub-agent, which gives its work to nobody. */
export async function findAgents(
  { skills }: TaskAccess,
  { context, toolHost, workspaceDir, isHere }: ToolPlace,
): Promise<readonly SubAgent[] | null> {
  const { parent, agent_definitions: given = [] } = context.config;
  if (parent !== undefined) return null;
  const files = skills?.filesOf(toolHost) ?? null;
  return await findSubAgents({
    given,
    workspace: files === null ? null : { files, workingDir: workspaceDir },
    server: skills?.server ?? null,
    isHere,
  });
}

type TaskSourceDeps = TaskAccess & ToolPlace & { readonly agents: readonly SubAgent[] };

/** A task's record is its conversation: a call that is repeated after a crash continues it, so nothing is stored here. */
export class TaskSource implements ToolSource {
  readonly ready = alwaysReady;
  /** A call begins by a message in another conversation, which has a record of its own. */
  readonly announce = noAnnounce;
  readonly #deps: TaskSourceDeps;
  readonly #listings: readonly ToolListing[];
  readonly #running = new Map<
    string,
    { readonly stop: AbortController; readonly outcome: Promise<Outcome> }
  >();

  constructor(deps: TaskSourceDeps) {
    this.#deps = deps;
    this.#listings = [listTaskTool(deps.agents.map((agent) => this.#placed(agent)))];
  }

  tools(): readonly ToolListing[] {
    return this.#listings;
  }

  owns(tool: string): boolean {
    return tool === taskToolName;
  }

  async execute(
    { actionId, action }: ExecutionRequest,
    { signal: stopped }: ExecuteOptions = {},
  ): Promise<Outcome> {
    const known = this.#running.get(actionId);
    if (known !== undefined) return await known.outcome;
    const stop = new AbortController();
    const signal = stopped === undefined ? stop.signal : AbortSignal.any([stopped, stop.signal]);
    const outcome = this.#perform(actionId, action as unknown as TaskAction, signal).finally(() =>
      this.#running.delete(actionId),
    );
    this.#running.set(actionId, { stop, outcome });
    return await outcome;
  }

  async state(actionId: string): Promise<ExecutionState> {
    return this.#running.has(actionId) ? { type: "running" } : { type: "unknown" };
  }

  async cancel(actionId: string): Promise<void> {
    const running = this.#running.get(actionId);
    if (running === undefined) return;
    running.stop.abort();
    await Promise.allSettled([running.outcome]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#running.keys()].map((actionId) => this.cancel(actionId)));
  }

  async #perform(actionId: string, action: TaskAction, signal: AbortSignal): Promise<Outcome> {
    const { conversationId, ownerId, agents, context, toolHost, children } = this.#deps;
    const kind = action.subagent_type ?? "general-purpose";
    const agent = subAgentNamed(agents, kind);
    if (agent === null) {
      const names = agents.map(({ name }) => name).join(", ");
      return failed("unknown", kind, `There is no sub-agent ${JSON.stringify(kind)}. There are: ${names}.`);
    }
    if (agent.refusal !== undefined) return failed("unknown", agent.name, agent.refusal);
    const task = new SubConversation(children, {
      parentId: conversationId,
      ownerId,
      config: context.config,
      secrets: context.secrets,
      actionId,
      agent,
      prompt: action.prompt,
      title: titleOf(action),
      resume: action.resume ?? null,
      hasWorktree: this.#placed(agent).worktree === true,
      toolHost,
      budget: this.#budgetOf(agent, action.resume ?? null),
    });
    const report = (status: string): void =>
      context.notify(
        stateUpdate("task", { task_id: task.id, subagent: agent.name, action_id: actionId, status }),
      );
    const ended = await this.#work(task, signal, report);
    const end = ended === null ? null : await this.#bringBack(task, ended, titleOf(action), signal);
    return end === null
      ? { type: "cancelled", text: `The task was stopped. Its id is ${task.id}, should it go on later.` }
      : { type: "observation", observation: observe(task.id, agent.name, end) as never };
  }

  /** Null when it was stopped. Whoever stops it has an answer only when the sub-agent begins nothing more (P43). */
  async #work(
    task: SubConversation,
    signal: AbortSignal,
    report: (status: string) => void,
  ): Promise<SubTaskEnd | null> {
    const { context } = this.#deps;
    const { closing } = context;
    const begun = task.begin();
    const onAbort = (): void => {
      if (closing.aborted) return;
      const stopped = Promise.allSettled([begun]).then(() => task.stop());
      // Why it failed is thrown below.
      context.stopping(Promise.allSettled([stopped]));
    };
    signal.addEventListener("abort", onAbort);
    try {
      await begun;
      const end = await task.ended(signal, report);
      if (end === null && !closing.aborted) await task.stop();
      if (end === null && closing.aborted) throw new LeftOpenError();
      await this.#recordCost(task);
      return end;
    } catch (error) {
      if (closing.aborted) throw new LeftOpenError();
      if (!(error instanceof TaskRefusedError || error instanceof Fault)) throw error;
      return { status: "error", text: "", reason: error.message };
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** With the place that it works in, where its description leaves that to the tool. */
  #placed(agent: SubAgent): SubAgent {
    return { ...agent, worktree: agent.worktree ?? tasksHaveWorktrees(this.#deps.context.config.agent) };
  }

  /** What became of the changes in its worktree belongs to the report. */
  async #bringBack(
    task: SubConversation,
    end: SubTaskEnd,
    title: string,
    signal: AbortSignal,
  ): Promise<SubTaskEnd> {
    const { conversationId, context, toolHost, children, logger } = this.#deps;
    const worktree = await task.worktree();
    if (worktree === null) return end;
    try {
      const mayMerge = end.status === "completed" && !signal.aborted;
      const work = await children.worktrees.finish(toolHost, { worktree, title, mayMerge });
      return { ...end, work };
    } catch (error) {
      if (context.closing.aborted) throw new LeftOpenError();
      logger.warn({ conversation: conversationId, error: String(error) }, "a task was not merged");
      return { ...end, work: `Its changes are in ${worktree.root} and not merged: ${describeError(error)}` };
    }
  }

  /** Nothing of a task may cost more than what its conversation has left; several turns of a task count together. */
  #budgetOf(agent: SubAgent, resume: string | null): number | null {
    const { limit, spent } = this.#deps.context.budget;
    const before = resume === null ? 0 : costOf(this.#deps.context.stats[usageIdOf(resume)]);
    const left = limit === null ? Infinity : Math.max(0, limit - spent);
    const maxCost = Math.min(left, agent.max_budget_per_run ?? Infinity);
    return maxCost === Infinity ? null : before + maxCost;
  }

  async #recordCost(task: SubConversation): Promise<void> {
    const { conversationId, context, logger } = this.#deps;
    try {
      const total = await task.metrics();
      const usageId = usageIdOf(task.id);
      if (total === null || costsSame(context.stats[usageId], total)) return;
      await context.putStats(usageId, { ...total, max_budget_per_task: null });
    } catch (error) {
      // The ledger of the user has it; what the sub-agent found is not lost for a number.
      const fields = { conversation: conversationId, error: String(error) };
      logger.warn(fields, "the cost of a task could not be added to the stats");
    }
  }
}

function usageIdOf(taskId: string): string {
  return `task:${taskId}`;
}

function costOf(total: unknown): number {
  return (total as MetricsSnapshot | undefined)?.accumulated_cost ?? 0;
}

function costsSame(before: unknown, now: MetricsSnapshot): boolean {
  const tokens = (total: MetricsSnapshot | undefined): string =>
    JSON.stringify(total?.accumulated_token_usage ?? null);
  return costOf(before) === costOf(now) && tokens(before as MetricsSnapshot | undefined) === tokens(now);
}
