import { expect, test } from "vitest";
import { completionTargetAt, completed, ranked } from "./completion.ts";

test.each([
  ["see @src/su", { kind: "file", query: "src/su", from: 4, to: 11 }],
  ["@", { kind: "file", query: "", from: 0, to: 1 }],
  ["write to a@b", null],
  ["@a b", null],
  ["/sto", { kind: "command", query: "sto", from: 0, to: 4 }],
  ["/srv/data", null],
  ["not /stop", null],
  ["/model fa", { kind: "model", query: "fa", from: 7, to: 9 }],
  ["/goal all tests pass", null],
])("what is asked for at the end of %j", (text, target) => {
  expect(completionTargetAt(text, text.length)).toEqual(target);
});

test("what stands behind the caret is no part of it and stays", () => {
  const text = "see @su and go";
  const target = completionTargetAt(text, 7)!;
  expect(target).toEqual({ kind: "file", query: "su", from: 4, to: 7 });
  const file = { name: "src/sum.js", detail: "", insert: "src/sum.js " };
  expect(completed(text, target, file)).toEqual({ text: "see src/sum.js and go", caret: 15 });
  const folder = { name: "src/", detail: "", insert: "@src/" };
  expect(completed(text, target, folder)).toEqual({ text: "see @src/ and go", caret: 9 });
});

test("the likeliest come first, and never more than asked for", () => {
  const names = ["lib/deep/sum.js", "summary.md", "src/assume.ts", "sum/", "docs/s/u/m.md", "other"];
  const find = (query: string, limit = 10) => ranked(names, query, (name) => name, limit);
  expect(find("sum")).toEqual(["sum/", "summary.md", "lib/deep/sum.js", "src/assume.ts", "docs/s/u/m.md"]);
  expect(find("SUM", 2)).toEqual(["sum/", "summary.md"]);
  expect(find("deep/s")).toEqual(["lib/deep/sum.js"]);
  expect(find("", 3)).toEqual(names.slice(0, 3));
});
