/**
 * Whether the expressions are found one behind the other within one piece of a text. Takes a time that grows with the length of
 * the text and no faster, unlike one expression with gaps in it, which a long command can keep busy for seconds.
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
