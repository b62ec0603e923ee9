/** Minimum widths for two and for three panes. */
const roomFor = [0, 1_101, 1_800];

/**
 * The addresses of the side panes: ids, each with optional search parameters. A conversation is shown once;
 * duplicates are ignored.
 */
export function besideIn(search: string, shown: string | null): readonly string[] {
  const ids = new Set([shown]);
  return new URLSearchParams(search).getAll("beside").filter((address) => {
    const { size } = ids;
    return ids.add(idOf(address)).size > size;
  });
}

/** The id in an address from {@link besideIn}. */
export function idOf(address: string): string {
  return address.split("?", 1)[0]!;
}

/** The URL of a page with these side panes. */
export function withBeside(address: string, beside: readonly string[]): string {
  const [path = "", search = ""] = address.split("?");
  const query = new URLSearchParams(search);
  query.delete("beside");
  for (const one of beside) query.append("beside", one);
  return query.size === 0 ? path : `${path}?${query}`;
}

/** The conversation id of a path; null for other screens. */
export function conversationIn(path: string): string | null {
  return /\/c\/([^/?]+)/.exec(path)?.[1] ?? null;
}

/** How many panes fit. */
export function roomIn(width: number): number {
  return roomFor.filter((least) => width >= least).length;
}

/** The URL that opens a conversation in a side pane: in a free one, or replacing the last one. */
export function toBeside(
  { path, search, width }: { readonly path: string; readonly search: string; readonly width: number },
  id: string,
): string {
  const shown = conversationIn(path);
  const beside = besideIn(search, shown);
  const places = roomIn(width) - 1;
  if (shown === null || places === 0) return `/c/${id}`;
  if (shown === id || beside.map(idOf).includes(id)) return `${path}${search === "" ? "" : `?${search}`}`;
  return withBeside(`${path}?${search}`, [...beside.slice(0, places - 1), id]);
}
