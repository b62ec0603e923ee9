import { expect, test } from "vitest";
import { createTheme } from "../screen/theme.ts";
import { StreamedAnswer } from "./streamed-answer.ts";
import { answerLines } from "./row-lines.ts";

const theme = createTheme({ hasColour: false, isAscii: false, mayMove: false });
const table = ["| file | lines |", "| --- | ---: |", "| total.js | 5 |", "| 日本 | 12 |"];
const aligned = [
  "| file     | lines |",
  "| -------- | ----: |",
  "| total.js |     5 |",
  "| 日本     |    12 |",
];

test("a table comes out when it has ended, with its columns below each other, and the rest around it", () => {
  const text = ["Look:", ...table, "", "> a **quote**", ""].join("\n");
  expect(answerLines(text, { theme })).toEqual([
    "● Look:",
    ...aligned.map((line) => `  ${line}`),
    "",
    "  > a quote",
  ]);
});

test("while it is written it is below what is finished", () => {
  const streamed = new StreamedAnswer(theme);
  const begun = table.slice(0, 3).join("\n");
  expect(streamed.advance(`${begun}\n| 日`, "a")).toEqual([]);
  expect(streamed.unfinished(`${begun}\n| 日`)).toBe(
    ["● | file | lines |", "  | --- | ---: |", "  | total.js | 5 |", "  | 日"].join("\n"),
  );
  const whole = `${table.join("\n")}\n`;
  expect([...streamed.advance(whole, "a"), ...streamed.rest(whole)!]).toEqual(
    aligned.map((line, index) => `${index === 0 ? "●" : " "} ${line}`),
  );
});

test("what only looks like a table stays as it is", () => {
  const lines = ["| one |", "| two |"];
  expect(answerLines(lines.join("\n"), { theme })).toEqual(["● | one |", "  | two |"]);
});
