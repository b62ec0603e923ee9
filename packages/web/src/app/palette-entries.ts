/** A destination of the palette. */
export type PaletteEntry = {
  /** Path within the page. */
  readonly href: string;
  readonly name: string;
  /** Type of the destination. */
  readonly kind: string;
  /** Set for a conversation, which can open in a side pane. */
  readonly conversationId: string | null;
};

const maxEntries = 12;

/**
 * Entries whose names contain every word of the query, prefix matches first; in their own order for an empty query.
 */
export function matchingEntries(entries: readonly PaletteEntry[], query: string): readonly PaletteEntry[] {
  const wanted = query.trim().toLocaleLowerCase();
  const words = wanted.split(/\s+/);
  const found = entries.filter(({ name, kind }) => {
    const text = `${name} ${kind}`.toLocaleLowerCase();
    return words.every((word) => text.includes(word));
  });
  const begins = ({ name }: PaletteEntry): boolean => name.toLocaleLowerCase().startsWith(wanted);
  return [...found.filter(begins), ...found.filter((entry) => !begins(entry))].slice(0, maxEntries);
}
