/** The answer without a code fence around all of it. */
export function withoutFence(answer: string): string {
  return /^```(?:json)?\n([^]*)\n```$/.exec(answer.trim())?.[1] ?? answer.trim();
}
