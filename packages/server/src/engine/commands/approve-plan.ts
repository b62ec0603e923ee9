import type { Agent } from "@convoke/protocol";
import { isPlanning } from "../../agent/plan-mode.ts";
import { Fault } from "../../lib/fault.ts";
import type { ConversationState } from "../state/conversation-state.ts";

/** Fails where there is no plan to approve (409), and while the agent still writes it. */
export function refuseApprovingPlan(agent: Agent, state: ConversationState, isWorking: boolean): void {
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
