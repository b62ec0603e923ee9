/** The conversation whose end an address shows; null where it shows something else. */
export function firstConversation(
  { pathname, search }: Pick<Location, "pathname" | "search">,
  prefix: string,
): string | null {
  const shown = new URLSearchParams(search);
  if (shown.has("at") || shown.has("event")) return null;
  return /^\/c\/([^/]+)$/.exec(pathname.slice(prefix.length))?.[1] ?? null;
}
