/**
 * True when the expressions match one after the other within one part of a text. Takes linear time, unlike one
 * expression with gaps, which can take seconds on a long command.
 */
export function inOrder(text: string, breaks: RegExp, parts: readonly RegExp[]): boolean {
  return text.split(breaks).some((fragment) => {
    let rest = fragment;
    return parts.every((part) => {
      const found = part.exec(rest);
      rest = found === null ? "" : rest.slice(found.index + found[0].length);
      return found !== null;
    });
  });
}
