/** Somewhere to go. */
export type PaletteEntry = {
  /** The address inside the page. */
  readonly href: string;
  readonly name: string;
  /** What it is. */
  readonly kind: string;
  /** Set for a conversation, which can stand beside another one. */
  readonly conversationId: string | null;
};

const maxEntries = 12;

/** Entries whose names have every word of the query, those first whose names begin with it; in their order without one. */
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
