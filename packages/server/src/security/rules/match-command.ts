import { posix } from "node:path";
import { undisguise } from "../analyzers/shell-text.ts";
import type { CommandReading } from "./read-command.ts";
import type { ShellWord } from "./wrappers.ts";

/** The last element of a form: any further words. */
export const restForm = "**";

/** Whether every word is one that the form names: what is only known when it runs fits nothing but `**`. */
export function coversWords(form: readonly string[], words: readonly ShellWord[]): boolean {
  const hasRest = form.at(-1) === restForm;
  const fixed = hasRest ? form.slice(0, -1) : form;
  if (hasRest ? words.length < fixed.length : words.length !== fixed.length) return false;
  return fixed.every((element, index) => fitsWord(element, words[index] ?? null));
}

/**
 * Whether the words may be what the form names. Options before a word of the form, each with one value, are skipped
 * (`git -C x push`), the program may be given with its folder, and what is only known when it runs may be anything.
 */
function mayFitWords(form: readonly string[], words: readonly ShellWord[]): boolean {
  const [program, ...others] = form;
  const [name, ...rest] = words;
  if (typeof name === "string" && !fitsWord(program!, name) && !fitsWord(program!, posix.basename(name)))
    return false;
  return mayFitRest(others, rest);
}

/** Linear: each element takes the first word that it fits behind options and their values. */
function mayFitRest(form: readonly string[], words: readonly ShellWord[]): boolean {
  let at = 0;
  for (const element of form) {
    if (element === restForm) return true;
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

/** Whether the words of the form stand in the text in their order, as far as its disguises can be taken off. */
function mayFitText(form: readonly string[], text: string): boolean {
  const wanted = form.filter((element) => element !== "*" && element !== restForm);
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

/** Whether a part may fit the form, before or after unwrapping, or a text that could not be read whole. */
export function mayFitCommand(form: readonly string[], reading: CommandReading, text: string): boolean {
  if (reading.parts.some(({ words }) => mayFitWords(form, words))) return true;
  const isOpaque = reading.opaque.length > 0 || reading.parts.some(({ opaque }) => opaque !== null);
  return isOpaque && mayFitText(form, text);
}

function fitsWord(element: string, word: ShellWord): boolean {
  if (word === null) return false;
  return element === "*" || element === word || (element.includes("|") && element.split("|").includes(word));
}
