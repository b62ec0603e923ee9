/** The text at the caret that can be completed: a choice replaces `from` to `to`. */
export type CompletionTarget = {
  readonly kind: "file" | "command" | "model";
  readonly query: string;
  readonly from: number;
  readonly to: number;
};

/** One suggestion. */
export type Suggestion = {
  /** The label; unique among the suggestions shown together. */
  readonly name: string;
  readonly detail: string;
  /** The inserted text. */
  readonly insert: string;
};

/** Finds suggestions, best match first. */
export type Suggest = (target: CompletionTarget, signal: AbortSignal) => Promise<readonly Suggestion[]>;

/** `@` at the beginning of a word names a file, `/` at the beginning of the message a command or a skill. */
export function completionTargetAt(text: string, caret: number): CompletionTarget | null {
  const before = text.slice(0, caret);
  const file = /(?:^|\s)@([^\s@]*)$/u.exec(before)?.[1];
  if (file !== undefined) return { kind: "file", query: file, from: caret - file.length - 1, to: caret };
  const command = /^\/([^\s/]*)$/u.exec(before)?.[1];
  if (command !== undefined) return { kind: "command", query: command, from: 0, to: caret };
  const model = /^\/model (\S*)$/u.exec(before)?.[1];
  if (model !== undefined) return { kind: "model", query: model, from: caret - model.length, to: caret };
  return null;
}

/** The text with the suggestion inserted, and the new caret position. */
export function completed(
  text: string,
  { from, to }: CompletionTarget,
  { insert }: Suggestion,
): { readonly text: string; readonly caret: number } {
  // An existing space is not duplicated.
  const rest = insert.endsWith(" ") && text.startsWith(" ", to) ? text.slice(to + 1) : text.slice(to);
  return { text: `${text.slice(0, from)}${insert}${rest}`, caret: from + insert.length };
}

/** At most `limit` items whose name contains the query, ignoring case; prefixes first, then shorter names. */
export function ranked<Item>(
  items: readonly Item[],
  query: string,
  nameOf: (item: Item) => string,
  limit: number,
): readonly Item[] {
  const wanted = query.toLowerCase();
  const found = items.flatMap((item, index) => {
    const rank = rankOf(nameOf(item).toLowerCase(), wanted);
    return rank === null ? [] : [{ item, rank, index }];
  });
  const sorted = found.toSorted((left, right) => left.rank - right.rank || left.index - right.index);
  return sorted.slice(0, limit).map(({ item }) => item);
}

function rankOf(name: string, wanted: string): number | null {
  if (wanted === "") return 0;
  const base = name.slice(name.lastIndexOf("/", name.length - 2) + 1);
  const length = name.length / 10_000;
  if (base.startsWith(wanted)) return length;
  if (base.includes(wanted)) return 1 + length;
  if (name.includes(wanted)) return 2 + length;
  return hasInOrder(name, wanted) ? 3 + length : null;
}

/** Fuzzy match: all letters in this order, such as `rdm` in `readme`. */
function hasInOrder(name: string, wanted: string): boolean {
  let at = 0;
  for (const letter of name) if (letter === wanted[at]) at += 1;
  return at >= wanted.length;
}
