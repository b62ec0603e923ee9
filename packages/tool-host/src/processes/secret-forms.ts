import type { ToolSecret } from "../tool.ts";

/** One text that must not leave, and whether it counts only where no letter or digit touches it. */
export type SecretForm = { readonly text: string; readonly isWholeToken: boolean };

/** Values shorter than this are not masked: they turn up in unrelated text far too often. */
const shortestMaskedLength = 4;

/** Values from this length on are masked anywhere, even inside a longer word. */
const anywhereLength = 8;

/** A base64 fragment must be this long before it is taken for part of a secret. */
const fragmentLength = 12;

const base64LineLength = 76;

/** Every way in which the values may show: plain, quoted, URL-encoded and base64; longest first, without repeats. */
export function secretForms(secrets: readonly ToolSecret[]): SecretForm[] {
  const forms = new Map<string, SecretForm>();
  for (const { value } of secrets) {
    const trimmed = value.trim();
    if (trimmed.length < shortestMaskedLength) continue;
    const isWholeToken = trimmed.length < anywhereLength;
    for (const text of new Set([...spellings(trimmed), ...spellings(value)])) {
      if (!forms.has(text) || !isWholeToken) forms.set(text, { text, isWholeToken });
    }
  }
  return [...forms.values()].sort((a, b) => b.text.length - a.text.length);
}

function spellings(value: string): string[] {
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
    ...base64Spellings(value),
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
