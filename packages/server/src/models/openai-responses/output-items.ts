import { randomUUID } from "node:crypto";
import type { MessageToolCall, ReasoningItemModel } from "@convoke/protocol";
import { withoutUndefined } from "../../lib/without-undefined.ts";
import { objectsIn, textIn } from "../answer-values.ts";

type TextPart = { readonly type?: string; readonly text?: unknown; readonly refusal?: unknown };

/** One item of an answer; servers that are only compatible leave out any of these, or send another type. */
export type OutputItem = {
  readonly type?: string;
  readonly id?: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly content?: readonly TextPart[] | null;
  readonly summary?: readonly TextPart[];
  readonly encrypted_content?: string | null;
  readonly status?: string;
};

/** An item with the types that the API documents; what already has them is the same item. */
export function toItem(received: Readonly<Record<string, unknown>>): OutputItem {
  const { id, ...rest } = received;
  const { type, call_id, name, arguments: text, encrypted_content: sealed } = rest;
  return {
    ...rest,
    ...(textIn(id) === "" ? {} : { id: textIn(id) }),
    ...(sealed === undefined || sealed === null ? {} : { encrypted_content: textIn(sealed) }),
    ...(type === "function_call"
      ? { call_id: textIn(call_id), name: textIn(name), arguments: textIn(text) }
      : {}),
    ...("content" in received ? { content: partsIn(received["content"]) } : {}),
    ...("summary" in received ? { summary: partsIn(received["summary"]) ?? [] } : {}),
  };
}

/** Ids that are missing or used twice are replaced, because results are matched by id. */
export function withUniqueCallIds(items: readonly OutputItem[]): OutputItem[] {
  const seen = new Set<string>();
  return items.map((item) => {
    if (item.type !== "function_call") return item;
    const { call_id = "" } = item;
    const isUsable = call_id !== "" && !seen.has(call_id);
    const usable = isUsable ? call_id : `call_${randomUUID().replaceAll("-", "")}`;
    seen.add(usable);
    return isUsable ? item : { ...item, call_id: usable };
  });
}

export function textsOf(item: OutputItem): string[] {
  if (item.type !== "message") return [];
  return (item.content ?? []).map((part) => textIn(part.text ?? part.refusal)).filter((text) => text !== "");
}

export function toToolCall(item: OutputItem): MessageToolCall[] {
  if (item.type !== "function_call") return [];
  const text = item.arguments ?? "";
  return [
    {
      id: item.call_id ?? "",
      name: item.name ?? "",
      arguments: text.trim() === "" ? "{}" : text,
      origin: "responses",
    },
  ];
}

export function thoughtOf(item: OutputItem): string {
  const parts = (item.summary ?? []).length > 0 ? item.summary : item.content;
  return (parts ?? []).map((part) => textIn(part.text)).join("\n\n");
}

/** What an event may show of reasoning; the sealed part stays in the replay. */
export function toReasoningItem(item: OutputItem | undefined): ReasoningItemModel | null {
  if (item === undefined) return null;
  return withoutUndefined({
    id: item.id,
    summary: (item.summary ?? []).map((part) => textIn(part.text)),
    content: item.content ? item.content.map((part) => textIn(part.text)) : undefined,
    status: item.status === undefined ? undefined : textIn(item.status),
  });
}

/** A bare text is a list of one part. */
function partsIn(value: unknown): readonly TextPart[] | null {
  if (value === null) return null;
  if (typeof value === "object") return objectsIn<TextPart>(value);
  return [{ type: "output_text", text: textIn(value) }];
}
