/** The URL of a conversation with changed search parameters; null removes one. */
export function conversationAddress(
  id: string,
  search: string,
  changes: Readonly<Record<string, string | null>>,
): string {
  const parts = new URLSearchParams(search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) parts.delete(name);
    else parts.set(name, value);
  }
  return parts.size === 0 ? `/c/${id}` : `/c/${id}?${parts.toString()}`;
}
