import { stripVTControlCharacters } from "node:util";

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Control characters, and those that change the direction of what is read. */
// oxlint-disable-next-line no-control-regex -- control characters are what this finds
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Any text as the content of an element or of a quoted attribute. Colours of terminals are left out; characters that nobody sees are
 * written as their code, so that no text reads differently from what it is.
 */
export function escapeHtml(text: string): string {
  return stripVTControlCharacters(text)
    .toWellFormed()
    .replaceAll("\r\n", "\n")
    .replaceAll(unseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replaceAll(/[&<>"']/gu, (character) => entities[character]!);
}
