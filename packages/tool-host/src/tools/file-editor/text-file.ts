import { isUtf8 } from "node:buffer";
import { ToolInputError } from "../../tool.ts";

/** A text file's content without its byte order mark, and what is needed to write it back byte for byte. */
export type TextFile = {
  readonly text: string;
  readonly encoding: string;
  /** The byte order mark, or no bytes. */
  readonly mark: Buffer;
  /** False when the encoding is a guess: it reproduces the same bytes, but a conversion could go wrong. */
  readonly isEncodingKnown: boolean;
};

/** Decodes a file so that {@link encodeText} of the same text gives the same bytes. */
export async function decodeText(bytes: Buffer): Promise<TextFile> {
  for (const { encoding, mark } of marks) {
    if (!bytes.subarray(0, mark.length).equals(mark)) continue;
    const body = bytes.subarray(mark.length);
    const text = await decode(body, encoding);
    if ((await encode(text, encoding)).equals(body)) return { text, encoding, mark, isEncodingKnown: true };
  }
  if (isUtf8(bytes))
    return { text: bytes.toString("utf8"), encoding: "utf8", mark: noMark, isEncodingKnown: true };
  const { guessEncoding } = await loadForeign();
  const guessed = guessEncoding(bytes);
  if (guessed !== undefined) {
    const { encoding, isEncodingKnown } = guessed;
    return { text: await decode(bytes, encoding), encoding, mark: noMark, isEncodingKnown };
  }
  return { text: bytes.toString("latin1"), encoding: "latin1", mark: noMark, isEncodingKnown: false };
}

/** The bytes of `text` in the encoding of `file`; the whole text becomes UTF-8 when that encoding lacks a character. */
export async function encodeText(text: string, file: TextFile): Promise<Buffer> {
  const bytes = await encode(text, file.encoding);
  if ((await decode(bytes, file.encoding)) === text) return Buffer.concat([file.mark, bytes]);
  if (!file.isEncodingKnown) {
    throw new ToolInputError(
      `This file is not UTF-8; its encoding seems to be ${file.encoding}, which lacks a character of the new text. Use other characters, or convert the file to UTF-8 first, for example with iconv.`,
    );
  }
  return Buffer.from(text, "utf8");
}

/** Whether the content looks like something other than text: NUL bytes, a PDF with binary streams, or many control characters. */
export function isBinary(bytes: Buffer): boolean {
  const sample = bytes.subarray(0, sniffedBytes);
  if (marks.some(({ mark }) => sample.subarray(0, mark.length).equals(mark))) return false;
  if (sample.includes(0)) return true;
  const isText = isUtf8(bytes);
  if (!isText && sample.subarray(0, 5).toString("latin1") === "%PDF-") return true;
  const controls = sample.reduce((count, byte) => count + (isControl(byte) ? 1 : 0), 0);
  return controls > sample.length * (isText ? 0.3 : 0.01);
}

const sniffedBytes = 8_192;
const noMark = Buffer.alloc(0);

const marks = [
  { encoding: "utf8", mark: Buffer.from([0xef, 0xbb, 0xbf]) },
  { encoding: "utf-16le", mark: Buffer.from([0xff, 0xfe]) },
  { encoding: "utf-16be", mark: Buffer.from([0xfe, 0xff]) },
];

/** The text of bytes whose encoding is known, mark included. */
export async function decode(bytes: Buffer, encoding: string): Promise<string> {
  return encoding === "utf8" ? bytes.toString("utf8") : (await loadForeign()).decode(bytes, encoding);
}

async function encode(text: string, encoding: string): Promise<Buffer> {
  return encoding === "utf8" ? Buffer.from(text, "utf8") : (await loadForeign()).encode(text, encoding);
}

/** Encoding tables are a large part of what a tool host would load, and few files need them. */
function loadForeign(): Promise<typeof import("./foreign-encodings.ts")> {
  return import("./foreign-encodings.ts");
}

/** Control characters that text does not contain; tab, line ends, form feed, backspace and escape may occur. */
function isControl(byte: number): boolean {
  return byte < 8 || byte === 0x0b || (byte > 0x0d && byte < 0x20 && byte !== 0x1b) || byte === 0x7f;
}
