/** The id of the element that holds the title of a conversation. */
export function titleIdOf(conversationId: string): string {
  return `title-${conversationId}`;
}

/**
 * The accessible name of a panel: its title and that of its conversation, because two panes may have the same panel
 * open.
 */
export function labelsOf(ownId: string, conversationId: string): string {
  return `${ownId} ${titleIdOf(conversationId)}`;
}
