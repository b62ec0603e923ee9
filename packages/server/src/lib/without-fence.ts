/** What stands in a code fence, as models like to answer; by hand, because the text may be long and full of blanks. */
export function withoutFence(text: string): string {
  const opened = text.startsWith("```json") ? text.slice(7) : text.startsWith("```") ? text.slice(3) : text;
  return (opened.endsWith("```") ? opened.slice(0, -3) : opened).trim();
}
