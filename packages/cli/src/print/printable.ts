/** Colours, movements of the cursor, titles: what terminal programs send all the time, and nobody misses here. */
const sequences =
  // oxlint-disable-next-line no-control-regex -- control characters are what this finds
  /\u001b\[[0-9;:?<=>]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)|\u001b[()][0-9A-Za-z]|\r(?=\n)/g;

/** Controls of both sets but for line feed and tab; and what turns the direction of text, breaks its lines or shows as nothing. */
const hidden =
  // oxlint-disable-next-line no-control-regex -- the same
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/**
 * The text as a terminal may have it: the output of an agent must neither drive the terminal of the person who watches nor make
 * a command look like another one. What could is named in its place, such as `<U+202E>`.
 */
export function printable(text: string): string {
  return text.replaceAll(sequences, "").replaceAll(hidden, nameOf);
}

function nameOf(character: string): string {
  return `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`;
}
