import fc from "fast-check";
import { expect, test } from "vitest";
import { graphemesOf, widthOf } from "../screen/text-width.ts";
import { composerLines } from "./composer-lines.ts";

const prompt = "> ";

test("text is wrapped below the prompt, and the cursor is where the caret is", () => {
  const text = "abcdef日本語\nx";
  const size = { columns: 9, maxLines: 9 };
  expect(composerLines({ text, caret: text.length, prompt }, size)).toEqual({
    lines: ["> abcdef", "  日本語", "  x"],
    cursor: { line: 2, column: 3 },
  });
  expect(composerLines({ text, caret: 7, prompt }, size).cursor).toEqual({ line: 1, column: 4 });
  expect(composerLines({ text: "", caret: 0, prompt }, size)).toEqual({
    lines: ["> "],
    cursor: { line: 0, column: 2 },
  });
});

test("of many lines those around the caret are shown", () => {
  const text = Array.from({ length: 20 }, (_, index) => String(index)).join("\n");
  const { lines, cursor } = composerLines(
    { text, caret: text.indexOf("12"), prompt },
    { columns: 40, maxLines: 4 },
  );
  expect(lines).toEqual(["  10", "  11", "  12", "  13"]);
  expect(cursor).toEqual({ line: 2, column: 2 });
});

test("characters that move the cursor or turn the text are a dot", () => {
  const { lines } = composerLines(
    { text: "a\u001b[2Jb\u202ec\td", caret: 0, prompt },
    { columns: 40, maxLines: 4 },
  );
  expect(lines).toEqual(["> a·[2Jb·c  d"]);
});

test("for any text each line fits, and the cursor is inside of the lines", () => {
  const text = fc.array(fc.constantFrom("a", "日", "e\u0301", "\n", " ", "👍"), { maxLength: 60 });
  fc.assert(
    fc.property(text, fc.nat(60), fc.integer({ min: 8, max: 30 }), (parts, at, columns) => {
      const whole = parts.join("");
      const caret = graphemesOf(whole).slice(0, at).join("").length;
      const { lines, cursor } = composerLines({ text: whole, caret, prompt }, { columns, maxLines: 5 });
      expect(lines.length).toBeLessThanOrEqual(5);
      for (const line of lines) expect(widthOf(line)).toBeLessThan(columns);
      expect(cursor.column).toBeLessThanOrEqual(widthOf(lines[cursor.line]!));
    }),
  );
});
