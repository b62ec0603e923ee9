import { hasMoreValues, maxJsonValues } from "@convoke/protocol";
import { ImportRefusal } from "./import-refusal.ts";

/** A JSON document of a source. Throws an {@link ImportRefusal} that names the file. */
export function readSourceJson(bytes: Buffer, file: string, maxDepth: number): unknown {
  const refuse = (what: string): never => {
    throw new ImportRefusal("invalid_file", `${file} ${what}.`, { file });
  };
  if (bytes.toString("latin1").trim() === "") return refuse("is empty");
  if (hasMoreValues(bytes, maxJsonValues)) return refuse(`has more than ${maxJsonValues} values`);
  if (depthOf(bytes, maxDepth) > maxDepth) return refuse(`is nested more than ${maxDepth} levels deep`);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // Other bytes than UTF-8 would become other text.
    return refuse("is not UTF-8");
  }
  try {
    return JSON.parse(text, exactNumbers);
  } catch (error) {
    if (error instanceof InexactNumber) return refuse(error.message);
    return refuse("is not JSON");
  }
}

class InexactNumber extends Error {}

/** A number that this server would store as another one. */
function exactNumbers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number") return value;
  const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!isExact && !/[.eE]/.test(context?.source ?? "."))
    throw new InexactNumber(`has the number ${(context?.source ?? "").slice(0, 40)}, which would be changed`);
  if (!Number.isFinite(value)) throw new InexactNumber("has a number that is too large");
  return value;
}

/** How deep objects and lists are nested, as far as `max` and one more; texts are passed over. */
function depthOf(bytes: Buffer, max: number): number {
  let [depth, deepest, isText] = [0, 0, false];
  for (let at = 0; at < bytes.length && deepest <= max; at += 1) {
    const byte = bytes[at];
    if (isText) {
      if (byte === 0x5c) at += 1;
      else if (byte === 0x22) isText = false;
    } else if (byte === 0x22) isText = true;
    else if (byte === 0x7b || byte === 0x5b) deepest = Math.max(deepest, (depth += 1));
    else if (byte === 0x7d || byte === 0x5d) depth -= 1;
  }
  return deepest;
}
