const escape = "\u001b";

const named: ReadonlyMap<string, string> = new Map([
  ["ENTER", "\n"],
  ["TAB", "\t"],
  ["BS", "\u007f"],
  ["ESC", escape],
  ["UP", `${escape}[A`],
  ["DOWN", `${escape}[B`],
  ["RIGHT", `${escape}[C`],
  ["LEFT", `${escape}[D`],
  ["HOME", `${escape}[H`],
  ["END", `${escape}[F`],
  ["PGUP", `${escape}[5~`],
  ["PGDN", `${escape}[6~`],
]);

/** The bytes of a key name (`ENTER`, `UP`, `C-c`, `CTRL+d`, ...; case does not matter), or undefined when `text` is not one. */
export function specialKey(text: string): string | undefined {
  const name = text.trim().toUpperCase();
  const control = /^(?:C-|CTRL[-+])([A-Z])$/.exec(name)?.[1];
  if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) & 0x1f);
  return named.get(name);
}
