/** Characters that no shell reads in any other way. */
const plain = /^[\w@%+=:,./-]+$/;

/** One word of a shell's command line, whatever is in it. */
export function quoteWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A list of words as the line that a shell reads as these words; plain ones stay as they are. */
export function toCommandLine(words: readonly string[]): string {
  return words.map((word) => (plain.test(word) ? word : quoteWord(word))).join(" ");
}
