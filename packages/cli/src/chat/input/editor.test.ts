import { expect, test } from "vitest";
import { Editor } from "./editor.ts";

/** Plays keys such as `ctrl-a`; other words are typed. Returns the text with the caret as `|`. */
function play(...steps: string[]): string {
  const editor = new Editor();
  for (const step of steps) {
    const [, held, name] = /^(?:(ctrl|alt)-)?(\w+)$/u.exec(step) ?? [];
    const isKey =
      held !== undefined ||
      ["left", "right", "up", "down", "home", "end", "backspace", "delete"].includes(step);
    if (!isKey) editor.insert(step);
    else editor.press({ type: "key", name: name!, ctrl: held === "ctrl", alt: held === "alt", shift: false });
  }
  return `${editor.text.slice(0, editor.caret)}|${editor.text.slice(editor.caret)}`;
}

test.each<[string[], string]>([
  [["one two ", "ctrl-w", "three"], "one three|"],
  [["one two", "ctrl-a", "ctrl-k", "x ", "ctrl-y"], "x one two|"],
  [["one two", "alt-b", "alt-b", "alt-d"], "| two"],
  [["one", "ctrl-u", "ctrl-y", "ctrl-y"], "oneone|"],
  [["a👩‍👩‍👧b", "left", "left", "backspace"], "|👩‍👩‍👧b"],
  [["a👩‍👩‍👧b", "left", "backspace"], "a|b"],
  [["first\nsec\nthird", "up", "ctrl-a", "up", "end"], "first|\nsec\nthird"],
  [["long first\nx", "ctrl-p", "down"], "long first\nx|"],
  [["\n", "left", "left"], "|\n"],
  [["\nx", "left", "up"], "|\nx"],
  [["ab", "ctrl-j", "c", "ctrl-h", "ctrl-h"], "ab|"],
  [["ab", "ctrl-b", "ctrl-d"], "a|"],
  [["path/to.file", "alt-backspace"], "path/to.|"],
])("%j gives %j", (steps, text) => {
  expect(play(...steps)).toBe(text);
});

test("up and down belong to others at the first and at the last line", () => {
  const editor = new Editor();
  editor.insert("one\ntwo");
  const press = (name: string) => editor.press({ type: "key", name, ctrl: false, alt: false, shift: false });
  expect([press("down"), press("up"), press("up")]).toEqual([false, true, false]);
});

test("a long paste is a mark that stands for all of it, and a short one is text", () => {
  const editor = new Editor();
  const long = Array.from({ length: 12 }, (_, index) => `line ${index} $&`).join("\n");
  editor.insert("see ");
  editor.paste(long);
  editor.paste(" and this");
  expect(editor.text).toBe("see [paste 1: 12 lines] and this");
  expect(editor.whole).toBe(`see ${long} and this`);
  editor.clear();
  expect([editor.isEmpty, editor.whole]).toEqual([true, ""]);
  editor.paste(`${long}\n`);
  expect([editor.text, editor.whole]).toEqual(["[paste 1: 12 lines]", `${long}\n`]);
});
