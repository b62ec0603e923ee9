import { randomUUID } from "node:crypto";
import type { MessageToolCall } from "@convoke/protocol";
import { addFields, type Fields } from "./answer-fields.ts";
import { textIn } from "./answer-values.ts";
import { maxCalls } from "./max-calls.ts";
import { ArgumentChunks, saysSame } from "./received-calls.ts";

/** A delta of a tool call as chat servers stream it; servers leave out or repeat any of these. */
export type ToolCallDelta = {
  readonly index?: number | null;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
};

export type ToolArgumentsDelta = { readonly index: number; readonly name: string; readonly text: string };

type Draft = {
  readonly key: number | null;
  id: string;
  name: string;
  readonly chunks: ArgumentChunks;
  /** Whatever else the server sent with the call. */
  fields: Fields;
};

/** Finished calls, and what their server sent with each besides. */
export type DraftedCalls = { readonly calls: MessageToolCall[]; readonly fields: readonly Fields[] };

const ownFields = new Set(["index", "id", "type", "function"]);

/** Collects streamed tool calls, keeping the argument text exactly as received. */
export class ToolCallDrafts {
  readonly #drafts: Draft[] = [];

  get isEmpty(): boolean {
    return this.#drafts.length === 0;
  }

  /** Adds one delta and says what to show of it; `index` counts calls in order of appearance. */
  add(delta: ToolCallDelta): ToolArgumentsDelta {
    const name = textIn(delta.function?.name);
    const id = textIn(delta.id);
    const text = textIn(delta.function?.arguments);
    const draft = this.#find(delta, { id, name }) ?? this.#begin(delta.index ?? null);
    if (draft.id === "") draft.id = id;
    if (draft.name === "") draft.name = name;
    const others = Object.entries(delta).filter(([field]) => !ownFields.has(field));
    draft.fields = addFields(draft.fields, others);
    return { index: this.#drafts.indexOf(draft), name: draft.name, text: draft.chunks.add(text) };
  }

  /** The finished calls. Ids that are missing or used twice are replaced, because results are matched by id. */
  finish(): DraftedCalls {
    const seen = new Map<string, Draft>();
    const drafts = this.#drafts.filter((draft) => {
      const same = seen.get(draft.id);
      if (same === undefined) seen.set(draft.id, draft);
      // A call that was sent twice is one: same id, name and arguments under another index.
      const isAgain =
        same !== undefined && draft.id !== "" && same.name === draft.name && isSame(draft, same);
      return draft.name.trim() !== "" && !isAgain;
    });
    const used = new Set<string>();
    const calls = drafts.map((draft): MessageToolCall => {
      const isUsable = draft.id !== "" && !used.has(draft.id);
      const id = isUsable ? draft.id : `call_${randomUUID().replaceAll("-", "")}`;
      used.add(id);
      const { text } = draft.chunks;
      // A call without arguments is streamed as nothing; no parser accepts nothing.
      return { id, name: draft.name, arguments: text.trim() === "" ? "{}" : text, origin: "completion" };
    });
    return { calls, fields: drafts.map(({ fields }) => fields) };
  }

  /**
   * The call a delta continues. A new id together with a name begins a call even under a known index: some servers
   * number every call 0. A new id alone does not: others make up an id for every delta. A delta with neither belongs to the call
   * that is open, also under a new index.
   */
  #find(delta: ToolCallDelta, { id, name }: Pick<Draft, "id" | "name">): Draft | undefined {
    const isNamed = name !== "";
    if (typeof delta.index === "number") {
      const known = this.#drafts.findLast((draft) => draft.key === delta.index);
      if (known === undefined && !isNamed && id === "") return this.#drafts.at(-1);
      const isOther = isNamed && id !== "" && known !== undefined && known.id !== "" && known.id !== id;
      return isOther ? this.#drafts.find((draft) => draft.key === delta.index && draft.id === id) : known;
    }
    if (id !== "") {
      const same = this.#drafts.find((draft) => draft.id === id);
      if (same !== undefined || isNamed) return same;
    }
    return isNamed ? undefined : this.#drafts.at(-1);
  }

  #begin(key: number | null): Draft {
    // The last one takes what is too much: it is so far behind that it is never run.
    if (this.#drafts.length >= maxCalls) return this.#drafts.at(-1)!;
    const draft: Draft = { key, id: "", name: "", chunks: new ArgumentChunks(), fields: {} };
    this.#drafts.push(draft);
    return draft;
  }
}

function isSame(draft: Draft, other: Draft): boolean {
  const [text, whole] = [draft.chunks.text, other.chunks.text];
  return text === whole || saysSame(text, whole);
}
