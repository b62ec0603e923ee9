import type { TrimmedEvent } from "@convoke/protocol";
import { createTwoFilesPatch } from "diff";

type Cut = TrimmedEvent["cut"][number];
type Json = Record<string, unknown>;

/** All texts, lists and objects together may have this many times the maximum text; the rest is cut. */
const sharesOfAll = 16;
/** Longer texts are not compared; the editing tools refuse them. */
const longestCompared = 2_000_000;
/** When the difference takes longer than this, both texts are shortened like others. */
const compareMs = 40;
const contextLines = 3;
/** This many fields of an object stay even without room: events and their parts have fewer. */
const ownFields = 40;

/** Shortens a stored event to texts of `limit` characters; one of at most four times as many stays as it is. */
export function trimEvent(json: string, limit: number): string {
  if (json.length <= 4 * limit) return json;
  const event = JSON.parse(json) as Json;
  const cut: Cut[] = [];
  const trim = new Trimming(limit, cut);
  const body = trim.value({ ...event, ...withPatch(event, cut) }, "") as Json;
  const { id, timestamp, source } = event;
  const trimmed = { kind: "TrimmedEvent", id, timestamp, source, size: json.length, event: body, cut };
  return JSON.stringify(trimmed);
}

/** The observation of an edit with a diff instead of both texts; nothing for other events. */
function withPatch({ observation }: Json, cut: Cut[]): Json {
  if (typeof observation !== "object" || observation === null) return {};
  const seen = observation as Json;
  const { old_content: before, new_content: after, path, file_path: filePath } = seen;
  if (typeof after !== "string" || !(typeof before === "string" || before === null)) return {};
  const old = before ?? "";
  if (old.length + after.length > longestCompared) return {};
  const name = [path, filePath].find((given) => typeof given === "string") ?? "";
  const options = { context: contextLines, timeout: compareMs };
  const patch = createTwoFilesPatch(name, name, old, after, undefined, undefined, options);
  if (patch === undefined) return {};
  for (const [at, text] of [
    ["/observation/old_content", old],
    ["/observation/new_content", after],
  ] as const)
    cut.push({ at, length: text.length });
  return { observation: { ...seen, old_content: null, new_content: null, patch } };
}

class Trimming {
  readonly #limit: number;
  readonly #cut: Cut[];
  #left: number;

  constructor(limit: number, cut: Cut[]) {
    this.#limit = limit;
    this.#cut = cut;
    this.#left = limit * sharesOfAll;
  }

  value(value: unknown, at: string): unknown {
    if (typeof value === "string") return this.#text(value, at);
    if (Array.isArray(value)) return this.#list(value, at);
    if (typeof value === "object" && value !== null) return this.#object(value as Json, at);
    this.#left -= 8;
    return value;
  }

  #text(text: string, at: string): string {
    // Names, ids and similar texts stay whole even without room.
    const room = Math.max(Math.min(this.#limit, this.#left), 64);
    // Part of an image is useless: only the type of its data stays.
    const maxLength = isPicture(text) && text.length > room ? text.indexOf(",") + 1 : room;
    const shown = text.length <= maxLength ? text : cutAt(text, maxLength);
    this.#left -= shown.length;
    if (shown.length < text.length) this.#cut.push({ at, length: text.length });
    return shown;
  }

  #list(list: readonly unknown[], at: string): unknown[] {
    const items: unknown[] = [];
    for (const [index, item] of list.entries()) {
      if (this.#left <= 0 || at === "/forgotten_event_ids") break;
      items.push(this.value(item, `${at}/${index}`));
    }
    if (items.length < list.length) this.#cut.push({ at, length: list.length });
    return items;
  }

  #object(object: Json, at: string): Json {
    const entries = Object.entries(object);
    const result: Json = {};
    let shown = 0;
    for (const [key, value] of entries) {
      if (this.#left <= 0 && shown >= ownFields) break;
      this.#left -= key.length;
      result[key] = this.value(value, `${at}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
      shown += 1;
    }
    if (shown < entries.length) this.#cut.push({ at, length: entries.length });
    return result;
  }
}

function isPicture(text: string): boolean {
  return text.startsWith("data:") && text.slice(0, 200).includes(";base64,");
}

/** Never between the halves of a character. */
function cutAt(text: string, length: number): string {
  const isHalf = /[\uD800-\uDBFF]/.test(text[length - 1] ?? "");
  return text.slice(0, isHalf ? length - 1 : length);
}
