import { posix } from "node:path";
import { undisguise } from "../analyzers/shell-text.ts";
import type { CommandReading } from "./read-command.ts";
import type { ShellWord } from "./wrappers.ts";

/** The last element of a pattern: any further words. */
export const restElement = "**";

/** Whether every word is one that the pattern names: what is only known when it runs fits nothing but `**`. */
export function coversWords(pattern: readonly string[], words: readonly ShellWord[]): boolean {
  const hasRest = pattern.at(-1) === restElement;
  const fixed = hasRest ? pattern.slice(0, -1) : pattern;
  if (hasRest ? words.length < fixed.length : words.length !== fixed.length) return false;
  return fixed.every((element, index) => fitsWord(element, words[index] ?? null));
}

/**
 * Whether the words may be what the pattern names. Options before a word of the pattern, each with one value, are skipped
 * (`git -C x push`), the program may be given with its folder, and what is only known when it runs may be anything.
 */
function mayFitWords(pattern: readonly string[], words: readonly ShellWord[]): boolean {
  const [program, ...others] = pattern;
  const [name, ...rest] = words;
  if (typeof name === "string" && !fitsWord(program!, name) && !fitsWord(program!, posix.basename(name)))
    return false;
  return mayFitRest(others, rest);
}

/** Linear: each element takes the first word that it fits behind options and their values. */
function mayFitRest(pattern: readonly string[], words: readonly ShellWord[]): boolean {
  let at = 0;
  for (const element of pattern) {
    if (element === restElement) return true;
    while (isSkipped(words, at, element)) at += 1;
    const word = words[at];
    if (word === undefined) return false;
    if (word === null) return true;
    if (!fitsWord(element, word)) return false;
    at += 1;
  }
  return words.slice(at).every((word) => word === null || word.startsWith("-"));
}

function isSkipped(words: readonly ShellWord[], at: number, element: string): boolean {
  const word = words[at];
  if (typeof word !== "string" || fitsWord(element, word)) return false;
  return word.startsWith("-") || (at > 0 && words[at - 1]?.startsWith("-") === true);
}

/** Whether the words of the pattern stand in the text in their order, as far as its disguises can be taken off. */
function mayFitText(pattern: readonly string[], text: string): boolean {
  const wanted = pattern.filter((element) => element !== "*" && element !== restElement);
  const words = undisguise(text)
    .split(/[^\w./:@=+%,-]+/u)
    .flatMap((word) => (word.includes("=") ? [word, ...word.split("=")] : [word]));
  let at = 0;
  for (const element of wanted) {
    while (
      at < words.length &&
      !fitsWord(element, words[at]!) &&
      !fitsWord(element, posix.basename(words[at]!))
    )
      at += 1;
    if (at >= words.length) return false;
    at += 1;
  }
  return wanted.length > 0;
}

/** Whether a part may fit the pattern, before or after unwrapping, or a text that could not be read whole. */
export function mayFitCommand(pattern: readonly string[], reading: CommandReading, text: string): boolean {
  if (reading.parts.some(({ words }) => mayFitWords(pattern, words))) return true;
  const isOpaque = reading.opaque.length > 0 || reading.parts.some(({ opaque }) => opaque !== null);
  return isOpaque && mayFitText(pattern, text);
}

function fitsWord(element: string, word: ShellWord): boolean {
  if (word === null) return false;
  return element === "*" || element === word || (element.includes("|") && element.split("|").includes(word));
}
