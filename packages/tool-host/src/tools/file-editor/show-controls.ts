/**
 * Shows control characters as Unicode control pictures, ␛ for ESC, so that colour codes of a file reach the model as text. Tab, line
 * ends and form feed stay.
 */
export function showControls(text: string): string {
  return text.replace(controls, (character) => pictureOf(character.charCodeAt(0)));
}

/** Converts a passage copied from such a view back to the real control characters. */
export function readControls(text: string, passage: string): string {
  if (!pictures.test(passage) || text.includes(passage)) return passage;
  return passage.replace(/[\u2400-\u2421]/gu, (picture) => {
    const character = picture === "\u2421" ? "\u007f" : String.fromCharCode(picture.charCodeAt(0) - 0x2400);
    return text.includes(character) ? character : picture;
  });
}

function pictureOf(code: number): string {
  return String.fromCharCode(code === 0x7f ? 0x2421 : 0x2400 + code);
}

// oxlint-disable-next-line no-control-regex -- control characters are searched
const controls = /[\u0000-\u0008\u000b\u000e-\u001f\u007f]/gu;
const pictures = /[\u2400-\u2421]/u;
