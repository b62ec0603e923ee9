import { analyse } from "chardet";
import iconv from "iconv-lite";

const guessedBytes = 1024 * 1024;

/** Confidence of the detector in percent: enough to read with, and enough to convert with. Single-byte text rarely reaches more than 80. */
const likely = 35;
const certain = 60;
/** Minimum lead of the best guess in percent; guesses closer to each other are useless. */
const clearLead = 10;

/** The encoding that stands out, if it reproduces the same bytes. */
export function guessEncoding(bytes: Buffer): { encoding: string; isEncodingKnown: boolean } | undefined {
  const [best, second] = analyse(bytes.subarray(0, guessedBytes));
  if (best === undefined || best.confidence < Math.max(likely, (second?.confidence ?? 0) + clearLead))
    return undefined;
  const { name, confidence } = best;
  if (!iconv.encodingExists(name) || !encode(decode(bytes, name), name).equals(bytes)) return undefined;
  return { encoding: name, isEncodingKnown: confidence >= certain };
}

export function decode(bytes: Buffer, encoding: string): string {
  return iconv.decode(bytes, encoding, { stripBOM: false });
}

export function encode(text: string, encoding: string): Buffer {
  return iconv.encode(text, encoding, { addBOM: false });
}
