import { waitingActions, type ConversationView } from "@convoke/client";

/** The ids of pending approvals as one string, which is equal as long as they are. */
export function waitingIds(view: ConversationView): string {
  return waitingActions(view)
    .map(({ id }) => id)
    .join(" ");
}
