/** The token types that have a colour, which `app.css` defines under these names. */
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
 * The highlighted ranges of a text, in order, three numbers each: start, end, index in {@link tokenTypes}. Text
 * between them is plain.
 */
export type TokenRanges = readonly number[];

/** Finds the token ranges of a text; null if it is not highlighted. */
export type FindTokenRanges = (text: string, language: string) => Promise<TokenRanges | null>;
