/**
 * Control characters of a file as the pictures of Unicode, ␛ for ESC: what the model reads is no terminal, and colour codes do not
 * reach it. Tab, line ends and form feed stay.
 */
export function showControls(text: string): string {
  return text.replace(controls, (character) => pictureOf(character.charCodeAt(0)));
}

/** A passage that the model copied from such a view, as it stands in a file that has the characters and not their pictures. */
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

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const controls = /[\u0000-\u0008\u000b\u000e-\u001f\u007f]/gu;
const pictures = /[\u2400-\u2421]/u;
