import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseTheme, readTheme, themeNames } from "./theme-file.ts";
import { ChangeableTheme, createTheme, styles } from "./theme.ts";

const all = { hasColour: true, isAscii: false, mayMove: false };

test("issue 26: a theme file has a base, looks in words, numbers or hexadecimal colours, and signs", () => {
  const style = parseTheme(
    'base = "mono"\nred = "bold #ff5f00"\ngreen = "34"\ncyan = "underline bright-blue"\ndim = "plain"\n[signs]\nanswer = "»"',
    "t.toml",
  );
  const { paint, signs } = createTheme(all, style);
  expect(paint.red("x")).toBe("\u001b[1;38;2;255;95;0mx\u001b[22;39m");
  expect(paint.green("x")).toBe("\u001b[38;5;34mx\u001b[39m");
  expect(paint.cyan("x")).toBe("\u001b[4;94mx\u001b[24;39m");
  expect([paint.dim("x"), paint.yellow("x")]).toEqual(["x", "x"]);
  expect([signs.answer, signs.user]).toEqual(["»", ">"]);
  // What takes colours and signs away is stronger.
  const plain = createTheme({ ...all, hasColour: false, isAscii: true }, style);
  expect([plain.paint.red("x"), plain.signs.answer]).toEqual(["x", "*"]);
});

test.each([
  ['base = "blue"', "t.toml: base must be default, mono, high-contrast."],
  ['rot = "red"', "t.toml: unknown key rot"],
  ['red = "loud"', "t.toml: red must be words"],
  ["red = 7", "t.toml: red must be words"],
  ['red = "256"', "t.toml: red must be words"],
  ['[signs]\nanswer = "\\u001b[2J"', "t.toml: signs.answer must be a text of 1 to 10 columns."],
  ['[signs]\nhat = "x"', "t.toml: unknown sign hat"],
  ["red = ", "t.toml: "],
])("the theme %j is refused: %s", (source, message) => {
  expect(() => parseTheme(source, "t.toml")).toThrow(message);
});

test("themes are found by name or by path, and the names are listed", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-theme-"));
  await writeFile(join(folder.path, "night.toml"), 'red = "bright-red"');
  expect(await themeNames(folder.path)).toEqual(["default", "mono", "high-contrast", "night"]);
  expect(await themeNames(join(folder.path, "none"))).toEqual(["default", "mono", "high-contrast"]);
  const byName = await readTheme("night", folder.path);
  const byPath = await readTheme(join(folder.path, "night.toml"), "/");
  expect(byName.paint.red("x")).toBe(byPath.paint.red("x"));
  await expect(readTheme("noon", folder.path)).rejects.toThrow(
    `There is no theme noon: write default, mono, high-contrast, or put the theme into ${folder.path}/noon.toml.`,
  );
});

test("a theme that is changed is another one for everything that holds it", () => {
  const theme = new ChangeableTheme(createTheme(all));
  const before = theme.paint.dim("x");
  theme.change(createTheme(all, styles["high-contrast"]));
  expect([before, theme.paint.dim("x")]).toEqual(["\u001b[2mx\u001b[22m", "x"]);
});
