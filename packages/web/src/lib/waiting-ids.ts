import { waitingActions, type ConversationView } from "@convoke/client";

/** The actions that wait for their user as one text, which is the same as long as they are. */
export function waitingIds(view: ConversationView): string {
  return waitingActions(view)
    .map(({ id }) => id)
    .join(" ");
}
