import stringWidth from "string-width";
import { expect, test } from "vitest";
import { tableLines } from "./table.ts";

const columns = [
  { heading: "ID" },
  { heading: "TITLE", isCut: true },
  { heading: "COST", isRight: true },
] as const;
const rows = [
  ["01989c2e", "Repair the sum of lists with one element", "$0.31"],
  ["01989c2f", "数の合計を直す 👩‍👩‍👧 and more words", "$12.00"],
];

test("columns stand below each other and numbers at the right", () => {
  expect(tableLines(columns, rows, Infinity)).toEqual([
    "ID        TITLE                                       COST",
    "01989c2e  Repair the sum of lists with one element   $0.31",
    "01989c2f  数の合計を直す 👩‍👩‍👧 and more words          $12.00",
  ]);
});

test("only the column that may be is cut, by what the terminal shows, and no line is wider than the terminal", () => {
  const lines = tableLines(columns, rows, 34);
  expect(lines[1]).toBe("01989c2e  Repair the sum…    $0.31");
  for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(34);
});

test("what an agent named a thing neither breaks lines nor drives the terminal", () => {
  const [, line] = tableLines([{}, {}], [["a\nb", "\u001b[31mred\u202e"]], 80);
  expect(line).toBe("a b  red<U+202E>");
});
