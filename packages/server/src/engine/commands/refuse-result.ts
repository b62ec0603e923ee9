import { Fault } from "../../lib/fault.ts";
import type { ConversationLog } from "../conversation-log.ts";

const kinds = ["ActionEvent", "ObservationEvent", "AgentErrorEvent", "UserRejectObservation"];

/**
 * For a result of a call that waits for none: returns if the same result is stored already; fails if the call has
 * another answer or is not pending (409), and if there is none (404).
 */
export async function refuseResult(
  log: Pick<ConversationLog, "readKinds" | "state">,
  call: string,
  digest: string,
): Promise<void> {
  const events = await log.readKinds(kinds, 1, log.state.lastSeq);
  const action = events.findLast(
    ({ event }) => event.kind === "ActionEvent" && (event.id === call || event.tool_call_id === call),
  )?.event;
  if (action === undefined)
    throw new Fault(
      "missing",
      "tool_call_not_found",
      `This conversation has no call ${call}. GET .../tool_results lists those that wait for a result.`,
    );
  const answer = events.find(
    ({ event, meta }) =>
      meta.answers === action.id || ("action_id" in event && event.action_id === action.id),
  );
  if (answer === undefined)
    throw new Fault(
      "conflict",
      "tool_call_not_pending",
      `The call ${call} does not wait for a result of a client: it waits for an approval, or the server carries it out.`,
    );
  if (answer.meta.resultDigest !== digest)
    throw new Fault(
      "conflict",
      "tool_call_answered",
      `The call ${call} has another answer already: a result, or an error because of its deadline or an interrupt.`,
    );
}
