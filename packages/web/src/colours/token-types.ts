/** The kinds of tokens that are coloured. Their colours are in `app.css`, by these names. */
export const tokenTypes = [
  "comment",
  "keyword",
  "string",
  "number",
  "name",
  "type",
  "added",
  "removed",
] as const;

/**
 * The coloured ranges of a text, three numbers each, in the order of the text: where it begins, where it ends, and its place in
 * {@link tokenTypes}. What lies between them has the colour of plain text.
 */
export type TokenRanges = readonly number[];

/** Asks for the colours of a text; null where it stays plain. */
export type FindTokenRanges = (text: string, language: string) => Promise<TokenRanges | null>;
