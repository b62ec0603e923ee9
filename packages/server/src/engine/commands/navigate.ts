import { isOnPath, pathTo } from "../../agent/branches.ts";
import { Fault } from "../../lib/fault.ts";
import type { ConversationLog } from "../conversation-log.ts";
import {
  branchFields,
  initialState,
  type BranchHead,
  type ConversationState,
} from "../state/conversation-state.ts";
import { stateUpdate, statusUpdate } from "../../events/state-update.ts";
import type { Decision } from "./decide.ts";
import { applyEvent, foldedKinds, type FoldedEvent } from "../state/fold.ts";

/**
 * Continues from an event, or from the beginning if null. The log keeps all events; the conversation uses only those
 * that led to that event. A state update stands for the event before it. Throws if the event is unknown (404).
 */
export async function decideNavigation(log: ConversationLog, eventId: string | null): Promise<Decision> {
  const { navigations, status } = log.state;
  const all = await log.readKinds(foldedKinds, 1, log.state.lastSeq);
  let toSeq = 0;
  if (eventId !== null) {
    const target = await log.find(eventId);
    if (target === null)
      throw new Fault("missing", "event_not_found", `The conversation has no event ${eventId}.`);
    const path = pathTo(navigations, target.seq);
    const isLeaf = target.event.kind !== "ConversationStateUpdateEvent";
    toSeq = isLeaf
      ? target.seq
      : (all.findLast((item) => isOnPath(path, item.seq) && isEvent(item))?.seq ?? 0);
  }
  const branch = foldBranch(log.state, all, toSeq);
  const isNamed = toSeq > 0 && !all.some(({ seq }) => seq === toSeq);
  const head = { ...branch, leafId: isNamed ? eventId : branch.leafId };
  return {
    drafts: [
      ...(status === "idle" ? [] : [statusUpdate("idle")]),
      { ...stateUpdate("leaf_event_id", head.leafId), meta: { navigation: { toSeq, head } } },
    ],
    isAbort: true,
  };
}

/** Fails while something is in progress on the current branch (409). */
export function refuseWhileWorking(state: ConversationState, isWorking: boolean): void {
  if (state.status === "running" || isWorking)
    throw new Fault(
      "conflict",
      "already_running",
      "The conversation is running. Wait until it ends, or pause or interrupt it, before you go to another event.",
    );
  if (state.goal?.active === true)
    throw new Fault(
      "conflict",
      "already_running",
      "A goal is pursued. Stop it before you go to another event.",
    );
}

/**
 * The state on the branch; a call that was answered on any branch is not open, so that nothing happens twice (P6).
 */
function foldBranch(state: ConversationState, all: readonly FoldedEvent[], toSeq: number): BranchHead {
  const path = pathTo(state.navigations, toSeq);
  const branch = initialState();
  const answered = new Set<string | undefined>();
  for (const item of all) {
    const { event, meta } = item;
    if (event.kind === "ObservationEvent" || event.kind === "UserRejectObservation")
      answered.add(event.action_id);
    if (event.kind === "AgentErrorEvent") answered.add(meta.answers);
    if (isOnPath(path, item.seq)) applyEvent(branch, item);
  }
  branch.openActions = branch.openActions.filter(({ id }) => !answered.has(id));
  return Object.fromEntries(branchFields.map((field) => [field, branch[field]])) as BranchHead;
}

function isEvent({ event }: FoldedEvent): boolean {
  return event.kind !== "ConversationStateUpdateEvent";
}
