import type { ToolSecret } from "../tool.ts";

/** One text to mask, and where it counts. */
export type SecretForm = { readonly text: string; readonly bounds: Bounds };

/** Anywhere; without an adjacent letter or digit; or as a separate word that is not part of a path or a longer name. */
export type Bounds = "none" | "token" | "word";

/** Shorter values are not masked: they occur too often in unrelated text. */
const shortestMaskedLength = 4;

/** Values of this length or more are masked anywhere, even inside a longer word; so are lines of longer values. */
const anywhereLength = 8;

/** Minimum length of a base64 fragment that counts as part of a secret. */
const fragmentLength = 12;

const base64LineLength = 76;

/** Maximum number of lines of one value that are searched in every encoding; further lines only as they are. */
const fullySpelledLines = 100;

/**
 * Maximum characters of all forms together, which bounds memory and build time. Beyond it, far more than a conversation may
 * have, some encodings are not searched.
 */
const maxCharacters = 2_000_000;

/**
 * Every form in which the values may occur: plain, quoted, URL-encoded and base64, and single lines of multi-line values; longest
 * first, without duplicates.
 */
export function secretForms(secrets: readonly ToolSecret[]): SecretForm[] {
  const forms = new Map<string, SecretForm>();
  let characters = 0;
  const add = (text: string, bounds: Bounds): void => {
    const known = forms.get(text)?.bounds;
    if (known === undefined) characters += text.length;
    if (known === undefined || strictness[bounds] < strictness[known]) forms.set(text, { text, bounds });
  };
  const values = new Set(secrets.map(({ value }) => value).filter(isMasked));
  const lines = new Map<string, { readonly isSpelled: boolean }>();
  for (const value of values) {
    for (const [index, line] of recognisableLines(value.trim()).entries())
      lines.set(line, { isSpelled: index < fullySpelledLines || lines.get(line)?.isSpelled === true });
  }
  // The likeliest forms of all values come first, so that no value uses up the room of the others.
  for (const value of values) add(value.trim(), boundsOf(value.trim()));
  for (const line of lines.keys()) add(line, boundsOf(line));
  const whole = [...values].flatMap((value) => [...new Set([value.trim(), value])]);
  const spelled = [...lines].filter(([, { isSpelled }]) => isSpelled).map(([line]) => line);
  for (const spellings of [quotedSpellings, base64Spellings]) {
    for (const value of [...whole, ...spelled]) {
      if (characters > maxCharacters) break;
      const bounds = spellings === quotedSpellings ? boundsOf(value.trim()) : encodedBounds(value);
      for (const text of spellings(value)) add(text, bounds);
    }
  }
  return [...forms.values()].sort((a, b) => b.text.length - a.text.length);
}

function isMasked(value: string): boolean {
  return value.trim().length >= shortestMaskedLength;
}

const strictness: Readonly<Record<Bounds, number>> = { none: 0, token: 1, word: 2 };

function encodedBounds(value: string): Bounds {
  return value.trim().length < anywhereLength ? "token" : "none";
}

/** Everyday words, and paths of words, are only masked as they are. */
function boundsOf(value: string): Bounds {
  if (plainWord.test(value) || plainPath.test(value)) return "word";
  return value.length < anywhereLength ? "token" : "none";
}

const word = String.raw`(?:\p{Lu}?\p{Ll}{1,15}|\p{Lu}{2,15})`;
const plainWord = new RegExp(`^${word}$`, "u");
const plainPath = new RegExp(`^(?:~|\\.{0,2})(?:/${word}(?:[._-]${word})*)+/?$`, "u");

/** The lines of a multi-line value that are recognisable by themselves: not the frame of a key, not `kind: Config`. */
function recognisableLines(value: string): string[] {
  if (!value.includes("\n")) return [];
  const lines = value.split("\n").map((line) => line.trim());
  return lines.filter((line) => line.length >= anywhereLength && !armour.test(line) && !isPlainSetting(line));
}

const armour = /^-----(?:BEGIN|END) [A-Z0-9 ]+-----$/;
const setting = new RegExp(`^["']?([\\w.-]+)["']?\\s*[:=]\\s*["']?(?:${word}|v?\\d{1,4})?["']?,?$`, "u");

function isPlainSetting(line: string): boolean {
  const name = setting.exec(line)?.[1];
  return name !== undefined && !/pass|secret|token|key|credential|auth/i.test(name);
}

function quotedSpellings(value: string): string[] {
  const encoded = encodeURIComponent(value.toWellFormed());
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    value.replace(/["$`\\]/g, String.raw`\$&`),
    value.replaceAll("'", String.raw`'\''`),
    encoded,
    encoded.replaceAll("%20", "+"),
    encoded.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`),
    encoded.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
  ];
}

/** The base64 of the value alone, with a newline, and at each possible offset in a longer encoded text. */
function base64Spellings(value: string): string[] {
  const bytes = Buffer.from(value, "utf8");
  const whole = [bytes, Buffer.concat([bytes, Buffer.from("\n")])].map((data) => data.toString("base64"));
  const fragments = [0, 1, 2]
    .map((offset) => base64Fragment(bytes, offset))
    .filter((fragment) => fragment.length >= fragmentLength);
  const texts = [...whole, ...whole.map((text) => text.replace(/=+$/, "")), ...fragments];
  const wrapped = texts.filter((text) => text.length > base64LineLength).map(wrapBase64);
  return [...texts, ...wrapped].flatMap((text) => [text, text.replaceAll("+", "-").replaceAll("/", "_")]);
}

/** The base64 characters that only `bytes` determine, at `offset` bytes after a group of three. */
function base64Fragment(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const firstOwn = Math.ceil((offset * 8) / 6);
  const end = Math.floor(((offset + bytes.length) * 8) / 6);
  return text.slice(firstOwn, end);
}

function wrapBase64(text: string): string {
  return text.replace(new RegExp(`.{${base64LineLength}}(?=.)`, "g"), "$&\n");
}
