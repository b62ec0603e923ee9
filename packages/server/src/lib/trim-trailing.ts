/**
 * Without the characters at its end that are among `characters`. An expression for it, such as one class repeated before the end, tries
 * again at every one of those characters and takes quadratic time.
 */
export function trimTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}
