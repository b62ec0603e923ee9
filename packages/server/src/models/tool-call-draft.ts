import { randomUUID } from "node:crypto";
import type { MessageToolCall } from "@convoke/protocol";
import { mostCalls } from "./most-calls.ts";

/** A piece of a tool call as chat servers stream it; servers leave out or repeat any of these. */
export type ToolCallDelta = {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null;
};

export type ToolArgumentsPiece = { readonly index: number; readonly name: string; readonly text: string };

type Draft = { readonly key: number | null; id: string; name: string; readonly pieces: string[] };

/** Collects streamed tool calls, keeping the argument text exactly as received. */
export class ToolCallDrafts {
  readonly #drafts: Draft[] = [];

  get isEmpty(): boolean {
    return this.#drafts.length === 0;
  }

  /** Adds one delta and says what to show of it; `index` counts calls in order of appearance. */
  add(delta: ToolCallDelta): ToolArgumentsPiece {
    const name = delta.function?.name ?? "";
    const text = toText(delta.function?.arguments);
    const draft = this.#find(delta, name) ?? this.#begin(delta.index ?? null);
    if (draft.id === "") draft.id = delta.id ?? "";
    if (draft.name === "") draft.name = name;
    draft.pieces.push(text);
    return { index: this.#drafts.indexOf(draft), name: draft.name, text };
  }

  /** The finished calls. Ids that are missing or used twice are replaced, because results are matched by id. */
  finish(): MessageToolCall[] {
    const seen = new Set<string>();
    return this.#drafts.map((draft) => {
      const id =
        draft.id === "" || seen.has(draft.id) ? `call_${randomUUID().replaceAll("-", "")}` : draft.id;
      seen.add(id);
      const text = draft.pieces.join("");
      return {
        id,
        name: draft.name,
        // A call without arguments is streamed as nothing; no parser accepts nothing.
        arguments: text.trim() === "" ? "{}" : text,
        origin: "completion",
      };
    });
  }

  /**
   * The call a delta continues. A new id together with a name begins a call even under a known index: some servers
   * number every call 0. A new id alone does not: others make up an id for every piece.
   */
  #find(delta: ToolCallDelta, name: string): Draft | undefined {
    const isNamed = name !== "";
    const id = delta.id ?? "";
    if (typeof delta.index === "number") {
      const known = this.#drafts.findLast((draft) => draft.key === delta.index);
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
    if (this.#drafts.length >= mostCalls) return this.#drafts.at(-1)!;
    const draft: Draft = { key, id: "", name: "", pieces: [] };
    this.#drafts.push(draft);
    return draft;
  }
}

/** Arguments are text; a few servers send the object itself. */
function toText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
