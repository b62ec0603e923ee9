/** The id of the element that holds the title of a conversation. */
export function titleIdOf(conversationId: string): string {
  return `title-${conversationId}`;
}

/** What names a part beside a conversation: its own title, then that of the conversation, as two may have the same part open. */
export function labelsOf(ownId: string, conversationId: string): string {
  return `${ownId} ${titleIdOf(conversationId)}`;
}
