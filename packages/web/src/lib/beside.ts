/** From so many pixels on there is room for two conversations, and for three. */
const roomFor = [0, 1_101, 1_800];

/**
 * Addresses of the conversations that stand beside the shown one, each an id and perhaps what is asked of it. One conversation has
 * one place on the page: what names it again counts for nothing.
 */
export function besideIn(search: string, shown: string | null): readonly string[] {
  const ids = new Set([shown]);
  return new URLSearchParams(search).getAll("beside").filter((address) => {
    const { size } = ids;
    return ids.add(idOf(address)).size > size;
  });
}

/** The id in an address of {@link besideIn}. */
export function idOf(address: string): string {
  return address.split("?", 1)[0]!;
}

/** The address of a page with other conversations beside its own. */
export function withBeside(address: string, beside: readonly string[]): string {
  const [path = "", search = ""] = address.split("?");
  const query = new URLSearchParams(search);
  query.delete("beside");
  for (const one of beside) query.append("beside", one);
  return query.size === 0 ? path : `${path}?${query}`;
}

/** The conversation that a path names; null for other screens. */
export function conversationIn(path: string): string | null {
  return /\/c\/([^/?]+)/.exec(path)?.[1] ?? null;
}

/** How many conversations have room side by side. */
export function roomIn(width: number): number {
  return roomFor.filter((least) => width >= least).length;
}

/** Where to go to have the conversation beside what is shown: into free room, or into the place of the last one. */
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
