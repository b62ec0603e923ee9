/** Why a header cannot be sent, in words that end a sentence and do not show its value; null where it can. */
export function headerProblem(name: string, value: string): string | null {
  if (!/^[!#$%&'*+.^_`|~\w-]+$/u.test(name)) return "has a name that no header can have";
  const sent = value.replace(/^[\t\n\r ]+|[\t\n\r ]+$/gu, "");
  const at = sent.search(/[^\t\u0020-\u007e\u0080-\u00ff]/u);
  if (at === -1) return null;
  const code = sent.codePointAt(at)!;
  const kind = code < 0x20 || code === 0x7f ? "the control character" : "the character";
  return `has ${kind} U+${code.toString(16).toUpperCase().padStart(4, "0")} at position ${at + 1}, which no header can carry`;
}
