import { isDeepStrictEqual } from "node:util";
import { isObject } from "../lib/json-object.ts";

/** Fields of an answer that have no meaning here and that its server wants back. */
export type Fields = Readonly<Record<string, unknown>>;

/** Merges the fields of a stream chunk: lists and texts are appended, objects merged, anything else replaced. */
export function addFields(fields: Fields, added: readonly (readonly [string, unknown])[]): Fields {
  const news = added.filter(([, value]) => !isEmpty(value));
  return news.reduce<Fields>((all, [name, value]) => ({ ...all, [name]: joined(all[name], value) }), fields);
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** A value that is repeated, as in the whole message after its chunks, is stored once. */
function joined(known: unknown, value: unknown): unknown {
  if (known === undefined || isDeepStrictEqual(known, value)) return value;
  if (typeof known === "string" && typeof value === "string") return known + value;
  if (Array.isArray(known) && Array.isArray(value)) return value.reduce<unknown[]>(withItem, known);
  if (isObject(known) && isObject(value)) return addFields(known, Object.entries(value));
  return value;
}

/** The text fields of streamed reasoning chunks. Source: OpenRouter, reasoning tokens, `reasoning_details`. */
const growing = new Set(["text", "summary", "data", "thinking"]);

/** A chunk with the type and index of the last item continues that item. */
function withItem(items: readonly unknown[], item: unknown): unknown[] {
  const last = items.at(-1);
  if (isDeepStrictEqual(last, item)) return [...items];
  const goesOn =
    isObject(last) && isObject(item) && last["type"] === item["type"] && last["index"] === item["index"];
  if (!goesOn || item["index"] === undefined) return [...items, item];
  const whole = Object.entries(item).map(([name, value]) => {
    const known = last[name];
    const isAppended = growing.has(name) && typeof known === "string" && typeof value === "string";
    return [name, isAppended ? known + value : (value ?? known)] as const;
  });
  return [...items.slice(0, -1), { ...last, ...Object.fromEntries(whole) }];
}
