import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, TomlError } from "smol-toml";
import type { Paint } from "../../print/paint.ts";
import { widthOf } from "./text-width.ts";
import { sgr, signNames, styles, type Signs, type ThemeStyle } from "./theme.ts";

const paintNames = ["bold", "dim", "red", "green", "yellow", "cyan"] as const satisfies (keyof Paint)[];
const colourNames = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
const attributes: Readonly<Record<string, readonly [open: number, close: number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  inverse: [7, 27],
};
/** Wider signs would move everything to the right. */
const maxSignWidth = 10;

/** The names of the themes that there are: the built-in ones, then the files of `folder`. */
export async function themeNames(folder: string): Promise<readonly string[]> {
  const files = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const own = files.filter((name) => name.endsWith(".toml")).map((name) => name.slice(0, -5));
  return [...new Set([...Object.keys(styles), ...own.sort()])];
}

/** A built-in theme, one of `folder`, or the file at a path. Rejects with a sentence that names the file and the key. */
export async function readTheme(name: string, folder: string): Promise<ThemeStyle> {
  if (isBuiltIn(name)) return styles[name];
  const path = /[/\\]|\.toml$/u.test(name) ? name : join(folder, `${name}.toml`);
  const source = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    const names = Object.keys(styles).join(", ");
    throw new Error(`There is no theme ${name}: write ${names}, or put the theme into ${path}.`);
  });
  return parseTheme(source, path);
}

/** `path` is for errors. */
export function parseTheme(source: string, path: string): ThemeStyle {
  const fields = parseToml(source, path);
  const { base = "default", signs = {}, ...paints } = fields;
  if (typeof base !== "string" || !isBuiltIn(base))
    throw new Error(`${path}: base must be ${Object.keys(styles).join(", ")}.`);
  if (typeof signs !== "object" || signs === null)
    throw new Error(`${path}: signs must be a table, [signs].`);
  const paint: Record<keyof Paint, Paint[keyof Paint]> = { ...styles[base].paint };
  for (const [name, given] of Object.entries(paints)) {
    const key = paintNames.find((one) => one === name);
    if (key === undefined)
      throw new Error(`${path}: unknown key ${name}; there are base, ${paintNames.join(", ")} and [signs].`);
    paint[key] = parseStyle(given, `${path}: ${name}`);
  }
  return { paint, signs: parseSigns(signs as Readonly<Record<string, unknown>>, path) };
}

function isBuiltIn(name: string): name is keyof typeof styles {
  return Object.hasOwn(styles, name);
}

function parseToml(source: string, path: string): Readonly<Record<string, unknown>> {
  try {
    return parse(source);
  } catch (error) {
    if (error instanceof TomlError) throw new Error(`${path}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Words such as `bold #ff5f5f`: attributes and at most one colour. `plain` is the terminal's own text. */
function parseStyle(given: unknown, place: string): (text: string) => string {
  const words = typeof given === "string" ? given.trim().split(/\s+/u) : [""];
  if (words.length === 1 && words[0] === "plain") return (text) => text;
  const open: number[] = [];
  const close: number[] = [];
  for (const word of words) {
    const attribute = Object.hasOwn(attributes, word) ? attributes[word]! : null;
    const colour = attribute === null ? colourCodes(word) : [attribute[0]];
    if (colour === null)
      throw new Error(
        `${place} must be words such as "bold bright-red", a number of the 256 colours, "#rrggbb" or "plain".`,
      );
    open.push(...colour);
    close.push(attribute?.[1] ?? 39);
  }
  return sgr(open, [...new Set(close)]);
}

function colourCodes(word: string): readonly number[] | null {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/iu.exec(word);
  if (hex !== null) return [38, 2, ...hex.slice(1).map((part) => Number.parseInt(part, 16))];
  if (/^\d{1,3}$/u.test(word) && Number(word) < 256) return [38, 5, Number(word)];
  const isBright = word.startsWith("bright-");
  const index = colourNames.indexOf(isBright ? word.slice("bright-".length) : word);
  return index < 0 ? null : [(isBright ? 90 : 30) + index];
}

function parseSigns(given: Readonly<Record<string, unknown>>, path: string): Partial<Signs> {
  const entries = Object.entries(given).map(([name, sign]) => {
    if (!(signNames as readonly string[]).includes(name))
      throw new Error(`${path}: unknown sign ${name}; there are ${signNames.join(", ")}.`);
    const isShown = typeof sign === "string" && sign !== "" && !/\p{C}/u.test(sign);
    if (!isShown || widthOf(sign) > maxSignWidth)
      throw new Error(`${path}: signs.${name} must be a text of 1 to ${maxSignWidth} columns.`);
    return [name, sign];
  });
  return Object.fromEntries(entries) as Partial<Signs>;
}
