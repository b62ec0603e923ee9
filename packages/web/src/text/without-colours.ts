/* eslint-disable no-control-regex -- the sequences of a terminal begin with one */
export const escapeSequence =
  /\u001B\[([0-9;]*)([A-Za-z])|\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)|\u001B./g;

/** The text alone, without colours. */
export function withoutColours(output: string): string {
  return withoutControls(output.replaceAll(escapeSequence, ""));
}

export function withoutControls(text: string): string {
  return text.replaceAll(/\r\n/g, "\n").replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F]/g, "");
}
