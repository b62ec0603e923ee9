import { expect, test } from "vitest";
import { KeyReader, type Key } from "./key-reader.ts";

/** What chunks of input are read as; `wait` after them lets a pending escape become a key. */
function read(...chunks: string[]) {
  const keys: string[] = [];
  let pending: (() => void) | null = null;
  const reader = new KeyReader({
    onKey: (key) => keys.push(shown(key)),
    later: (_, callback) => {
      pending = callback;
      return () => (pending = null);
    },
  });
  for (const chunk of chunks) reader.take(chunk);
  (pending as (() => void) | null)?.();
  return keys;
}

function shown(key: Key): string {
  if (key.type === "text" || key.type === "paste") return `${key.type}:${key.text}`;
  if (key.type === "focus") return `focus:${key.isFocused}`;
  const held = [key.ctrl && "ctrl", key.alt && "alt", key.shift && "shift"].filter(Boolean);
  return [...held, key.name].join("-");
}

test.each<[string, string[], string[]]>([
  ["text and letters of all scripts", ["hé日本👩‍👩‍👧"], ["text:hé日本👩‍👩‍👧"]],
  ["control letters", ["\u0001\r\n\t\u007f"], ["ctrl-a", "enter", "ctrl-j", "tab", "backspace"]],
  ["arrows of both modes", ["\u001b[A\u001bOB"], ["up", "down"]],
  ["arrows with modifiers", ["\u001b[1;5C\u001b[1;3D"], ["ctrl-right", "alt-left"]],
  ["home, end, delete", ["\u001b[H\u001b[4~\u001b[3~"], ["home", "end", "delete"]],
  ["alt and a letter, alt and enter", ["\u001bb\u001b\r"], ["alt-b", "alt-enter"]],
  ["enter with modifiers of the kitty protocol", ["\u001b[13;2u\u001b[13;5u"], ["shift-enter", "ctrl-enter"]],
  ["the same of xterm", ["\u001b[27;5;13~"], ["ctrl-enter"]],
  [
    "letters and escape of the kitty protocol",
    ["\u001b[99;5u\u001b[27u\u001b[97u"],
    ["ctrl-c", "escape", "text:a"],
  ],
  ["focus", ["\u001b[I\u001b[O"], ["focus:true", "focus:false"]],
  [
    "a paste as one thing, whatever is in it",
    ["\u001b[200~a\rb\u001b[Ac\u001b[201~d"],
    ["paste:a\nb\u001b[Ac", "text:d"],
  ],
  ["a paste in pieces", ["x\u001b[20", "0~one ", "two\u001b[2", "01~"], ["text:x", "paste:one two"]],
  ["a sequence in pieces", ["\u001b", "[", "1;5", "A"], ["ctrl-up"]],
  ["a lone escape, when nothing follows", ["\u001b"], ["escape"]],
  ["two escapes", ["\u001b\u001b"], ["escape", "escape"]],
])("%s", (_, chunks, keys) => {
  expect(read(...chunks)).toEqual(keys);
});
