import type { LiveRunPart } from "./follow-run.ts";
import { callItem, messageItem, newItemId, reasoningItem, textPart } from "./response-body.ts";

export type ResponseEvent = Readonly<Record<string, unknown>> & { readonly type: string };

type OpenItem = { readonly kind: "text" | "thinking"; readonly id: string; text: string };

/** The events of a streamed response about its items. `sequence_number` is added where they are sent. */
export class ResponseEvents {
  /** The items that have ended. */
  readonly output: ReturnType<typeof messageItem>[] = [];
  /** The texts of the messages among them. */
  readonly texts: string[] = [];
  #open: OpenItem | null = null;
  /** Reasoning of the answer that is on its way was streamed. */
  #hasThought = false;

  *of(part: LiveRunPart): Generator<ResponseEvent> {
    switch (part.type) {
      case "text":
      case "thinking":
        if (this.#open?.kind !== part.type) yield* this.#begin(part.type);
        yield* this.#add(part.chunk);
        return;
      case "reasoning":
        if (!this.#hasThought) yield* this.#whole("thinking", part.text);
        return;
      case "message":
        if (this.#open?.kind !== "text") yield* this.#begin("text");
        yield* this.#endWith(part.text, part.isLast);
        this.#hasThought = false;
        return;
      case "call":
        yield* this.#close();
        yield* this.#call(part);
        return;
      case "end":
        yield* this.#close();
        return;
      case "spent":
    }
  }

  *#begin(kind: OpenItem["kind"]): Generator<ResponseEvent> {
    yield* this.#close();
    const id = newItemId(kind === "text" ? "msg" : "rs");
    this.#open = { kind, id, text: "" };
    if (kind === "text") {
      const item = { ...messageItem(id, ""), status: "in_progress", content: [] };
      yield this.#about("output_item.added", { item });
      yield this.#about("content_part.added", { item_id: id, content_index: 0, part: textPart("") });
    } else {
      this.#hasThought = true;
      yield this.#about("output_item.added", { item: { ...reasoningItem(id, ""), summary: [] } });
      const part = { type: "summary_text", text: "" };
      yield this.#about("reasoning_summary_part.added", { item_id: id, summary_index: 0, part });
    }
  }

  *#add(delta: string): Generator<ResponseEvent> {
    const open = this.#open!;
    if (delta === "") return;
    open.text += delta;
    yield open.kind === "text"
      ? this.#about("output_text.delta", { item_id: open.id, content_index: 0, delta, logprobs: [] })
      : this.#about("reasoning_summary_text.delta", { item_id: open.id, summary_index: 0, delta });
  }

  *#whole(kind: OpenItem["kind"], text: string): Generator<ResponseEvent> {
    yield* this.#begin(kind);
    yield* this.#add(text);
    yield* this.#close();
  }

  /** Ends a message with its stored text: what was not streamed of it comes first. */
  *#endWith(text: string, isLast: boolean): Generator<ResponseEvent> {
    const open = this.#open!;
    if (text.startsWith(open.text)) yield* this.#add(text.slice(open.text.length));
    yield* this.#close(isLast);
  }

  *#close(isLast = true): Generator<ResponseEvent> {
    const open = this.#open;
    if (open === null) return;
    const { id, kind, text } = open;
    const item = kind === "text" ? messageItem(id, text, isLast) : reasoningItem(id, text);
    if (kind === "text") {
      const place = { item_id: id, content_index: 0 };
      yield this.#about("output_text.done", { ...place, text, logprobs: [] });
      yield this.#about("content_part.done", { ...place, part: textPart(text) });
      this.texts.push(text);
    } else {
      const place = { item_id: id, summary_index: 0 };
      yield this.#about("reasoning_summary_text.done", { ...place, text });
      const part = { type: "summary_text", text };
      yield this.#about("reasoning_summary_part.done", { ...place, part });
    }
    yield this.#about("output_item.done", { item });
    this.output.push(item);
    this.#open = null;
  }

  *#call(call: Extract<LiveRunPart, { type: "call" }>): Generator<ResponseEvent> {
    const id = newItemId("fc");
    const { arguments: args, name } = call;
    const item = callItem(id, call);
    yield this.#about("output_item.added", { item: { ...item, status: "in_progress", arguments: "" } });
    yield this.#about("function_call_arguments.delta", { item_id: id, delta: args });
    yield this.#about("function_call_arguments.done", { item_id: id, name, arguments: args });
    yield this.#about("output_item.done", { item });
    this.output.push(item);
  }

  #about(name: string, fields: object): ResponseEvent {
    return { type: `response.${name}`, output_index: this.output.length, ...fields };
  }
}
