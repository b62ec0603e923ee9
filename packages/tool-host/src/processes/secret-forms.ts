import type { ToolSecret } from "../tool.ts";

/** One text that must not leave, and where it counts. */
export type SecretForm = { readonly text: string; readonly bounds: Bounds };

/** Anywhere; where no letter or digit touches it; or where it is a word of its own, not part of a path or a longer name. */
export type Bounds = "none" | "token" | "word";

/** Values shorter than this are not masked: they turn up in unrelated text far too often. */
const shortestMaskedLength = 4;

/** Values from this length on are masked anywhere, even inside a longer word; so are lines of longer values. */
const anywhereLength = 8;

/** A base64 fragment must be this long before it is taken for part of a secret. */
const fragmentLength = 12;

const base64LineLength = 76;

/** Lines of one value that are looked for in every spelling; of what comes behind, as it is. */
const fullySpelledLines = 100;

/**
 * Characters of all forms together: what they take in memory, and the time until they can be found. Of values over that, which are
 * far more than a conversation may have, some spellings are not looked for.
 */
const maxCharacters = 2_000_000;

/**
 * Every way in which the values may show: plain, quoted, URL-encoded and base64, and the single lines of those with several;
 * longest first, without repeats.
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
  // What is likelier to be met comes first, of all values, so that none of them uses up the room of the others.
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

/** What people write every day hides nothing but itself: a word, or a path of words. */
function boundsOf(value: string): Bounds {
  if (plainWord.test(value) || plainPath.test(value)) return "word";
  return value.length < anywhereLength ? "token" : "none";
}

const word = String.raw`(?:\p{Lu}?\p{Ll}{1,15}|\p{Lu}{2,15})`;
const plainWord = new RegExp(`^${word}$`, "u");
const plainPath = new RegExp(`^(?:~|\\.{0,2})(?:/${word}(?:[._-]${word})*)+/?$`, "u");

/** The lines of a value with several that tell something by themselves: not the frame of a key, not `kind: Config`. */
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

/** The value alone, with a newline after it, and wherever it may start inside a longer encoded text. */
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

/** The characters that `bytes` alone decide when they begin `offset` bytes after a group of three. */
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
