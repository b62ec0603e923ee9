import type { Agent } from "@convoke/protocol";
import { approvalMessage, isPlanning, workingAgent } from "../agent/plan-mode.ts";
import { Fault } from "../lib/fault.ts";
import type { Runner } from "./run/runner.ts";
import type { ConversationState } from "./state/conversation-state.ts";
import type { WorkQueue } from "./work-queue.ts";
import type { Writer } from "./writer.ts";
import type { HookSlot } from "./hook-gate.ts";
import { noHooks, sendMessage, type SendDeps } from "./commands/send-message.ts";

export type ApprovePlanDeps = SendDeps & {
  readonly hooks: Pick<HookSlot, "gate">;
  readonly queue: WorkQueue;
  readonly runner: Pick<Runner, "isAlive" | "isWorking" | "ended">;
  readonly writer: Writer;
};

/**
 * Ends plan mode: one commit gives the agent its full tools and tells it to carry out the plan, with the user's
 * addition. Fails while a run is in progress or an approval is pending (409), and outside of plan mode (409).
 */
export async function approvePlan(words: string | null, deps: ApprovePlanDeps): Promise<void> {
  const { configuration, hooks, log, queue, runner, writer } = deps;
  refuseApprovingPlan(configuration.config.agent, log.state, runner.isWorking);
  await runner.ended();
  const content = [{ type: "text" as const, text: approvalMessage(words), cache_prompt: false }];
  const message = { role: "user" as const, content, thinking_blocks: [] };
  const admitted = (await hooks.gate?.admit(message)) ?? noHooks;
  await queue.post(async () => {
    const { agent } = configuration.config;
    refuseApprovingPlan(agent, log.state, runner.isAlive);
    // Closes the tools; the next run builds the system prompt with the new ones.
    const prepared = { session: null, admitted };
    await sendMessage({ message, wantsRun: true }, prepared, deps, (decision, extra) =>
      writer.commitChange({ agent: workingAgent(agent) }, decision, extra),
    );
  });
}

/** Fails if there is no plan to approve (409), or while the agent writes it. */
function refuseApprovingPlan(agent: Agent, state: ConversationState, isWorking: boolean): void {
  if (!isPlanning(agent))
    throw new Fault(
      "conflict",
      "not_planning",
      "The agent of this conversation does not plan: there is no plan to approve.",
    );
  if (state.status === "running" || state.openActions.length > 0 || isWorking)
    throw new Fault(
      "conflict",
      "plan_not_ready",
      "The agent still works on the plan. Wait until its turn ends, answer what waits for an approval, or interrupt it.",
    );
}
