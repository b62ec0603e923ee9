/**
 * PostgreSQL holds neither NUL nor half of a surrogate pair. In what is only compared they stand as characters of the last
 * private plane, the same in the text and in the search terms.
 */
export function toComparable(text: string): string {
  if (!text.includes("\0") && text.isWellFormed()) return text;
  return Array.from(text, (character) => (isUnstorable(character) ? standIn(character) : character)).join("");
}

/** The same in what people wrote and get back (a title, an id of theirs): the character that stands for what cannot be shown. */
export function toStorable(text: string): string {
  return text.includes("\0") ? text.toWellFormed().replaceAll("\0", "\ufffd") : text.toWellFormed();
}

const lastPlane = 0x10_00_00;

function isUnstorable(character: string): boolean {
  return character === "\0" || !character.isWellFormed();
}

function standIn(character: string): string {
  return String.fromCodePoint(lastPlane + character.charCodeAt(0));
}
