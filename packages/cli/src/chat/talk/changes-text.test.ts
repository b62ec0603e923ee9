import type { ChangedFile } from "@convoke/client/view";
import { expect, test } from "vitest";
import { createTheme } from "../screen/theme.ts";
import { changesText, filesAt } from "./changes-text.ts";

const theme = createTheme({ hasColour: false, isAscii: false, mayMove: false });
const file = (path: string, status: ChangedFile["status"], before: string, after: string): ChangedFile => ({
  path,
  fullPath: `/w/${path}`,
  status,
  read: async () => [{ before, after }],
});
const files = [
  file("src/a.ts", "UPDATED", "one\ntwo\n", "one\n2\n"),
  file("src/b\u001b[2J.ts", "ADDED", "", "new\n"),
  file("c.bin", "DELETED", "", ""),
];

test("issue 26: /diff shows each file with its changed lines, and no sequence of theirs", async () => {
  const text = await changesText(files, theme);
  expect(text).not.toContain("\u001b");
  expect(text.replace(/src\/b.*\.ts/u, "src/b.ts")).toBe(`src/a.ts  +1 -1
@@ -1,2 +1,2 @@
  one
- two
+ 2

src/b.ts  new  +1 -0
@@ -1,0 +1,1 @@
+ new

c.bin  deleted  +0 -0
  no lines to show: a binary or empty file, or one that is too large
`);
});

test("a path names a file or a folder; of very many files only the names are shown", async () => {
  expect(filesAt(files, "./src/").map(({ path }) => path)).toHaveLength(2);
  expect(filesAt(files, "/w/src/a.ts")).toEqual([files[0]]);
  expect(filesAt(files, "sr")).toEqual([]);
  const many = Array.from({ length: 102 }, (_, index) => file(`${index}.txt`, "ADDED", "", "x"));
  const text = await changesText(many, theme);
  expect(text).toMatch(/2 more: \/diff PATH shows them\n100\.txt\n101\.txt$/u);
});
