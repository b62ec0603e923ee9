/** The conversation at whose end a URL opens; null for other URLs. */
export function firstConversation(
  { pathname, search }: Pick<Location, "pathname" | "search">,
  prefix: string,
): string | null {
  const shown = new URLSearchParams(search);
  if (shown.has("at") || shown.has("event")) return null;
  return /^\/c\/([^/]+)$/.exec(pathname.slice(prefix.length))?.[1] ?? null;
}
