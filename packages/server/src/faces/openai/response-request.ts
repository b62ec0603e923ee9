import type { ChatMessage, ClientToolSpec, OpenAIResponseRequest } from "@convoke/protocol";
import { Fault, invalidField } from "../../lib/fault.ts";
import { isObject } from "../../lib/json-object.ts";
import { normalizeUuid } from "../../lib/uuid7.ts";
import { readChat, type ChatInput } from "./chat-input.ts";
import { parseResponseId } from "./response-id.ts";

/** A parsed request of the responses API. */
export type ResponseInput = {
  readonly chat: ChatInput;
  /** The conversation that it continues; null: the one whose chat it continues, or a new one. */
  readonly conversationId: string | null;
  readonly clientTools: readonly ClientToolSpec[];
  /** Outputs of calls, which answer those that wait for them. */
  readonly outputs: readonly CallOutput[];
  /** What the user says besides; null for nothing. */
  readonly rest: ChatInput | null;
};

export type CallOutput = { readonly call: string; readonly text: string };

const known = new Set([
  "model",
  "input",
  "instructions",
  "previous_response_id",
  "conversation",
  "background",
  "stream",
  "tools",
  "metadata",
  // They name who asks, or say how a stream is packed, and change no answer.
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "stream_options",
]);

/** Values that say what happens anyway. */
const usual: Readonly<Record<string, readonly unknown[]>> = {
  store: [true],
  tool_choice: ["auto"],
  parallel_tool_calls: [true],
  truncation: ["disabled"],
  service_tier: ["auto", "default"],
};

/** Reads a request; a field that is not supported is a fault with its name. */
export function readResponseRequest(request: OpenAIResponseRequest): ResponseInput {
  for (const [name, value] of Object.entries(request)) {
    const isNothing = value === null || value === undefined || (Array.isArray(value) && value.length === 0);
    if (!known.has(name) && !isNothing && usual[name]?.includes(value) !== true) throw unsupported(name);
  }
  if (request.background === true && request.stream === true)
    throw unsupported("stream", "Leave out stream or background: a background response is read with GET.");
  const { input, instructions } = request;
  const conversationId = conversationOf(request);
  const items = typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
  const system = instructions ? [{ role: "system", content: instructions }] : [];
  const messages = [...system, ...joined(items, conversationId !== null)];
  const words = joined(
    items.filter((item) => outputOf(item) === null),
    true,
  );
  const { model } = request;
  return {
    chat: readChat({ model, messages }, "input"),
    conversationId,
    clientTools: (request.tools ?? []).map(readTool),
    outputs: items.flatMap((item) => outputOf(item) ?? []),
    rest: words.some(({ role }) => role === "user") ? readChat({ model, messages: words }, "input") : null,
  };
}

function outputOf(item: object): CallOutput | null {
  const { type, call_id: call, output } = item as Readonly<Record<string, unknown>>;
  if (type !== "function_call_output") return null;
  return { call: String(call), text: typeof output === "string" ? output : JSON.stringify(output ?? "") };
}

function conversationOf({
  conversation,
  previous_response_id: previous,
}: OpenAIResponseRequest): string | null {
  if (conversation && previous)
    throw unsupported("conversation", "Send conversation or previous_response_id, not both.");
  if (previous) return parseResponseId(previous).conversationId;
  if (!conversation) return null;
  const id = typeof conversation === "string" ? conversation : conversation["id"];
  if (typeof id !== "string") throw invalidField(["body", "conversation", "id"], "Send an id.");
  return normalizeUuid(id.replace(/^conv_/, "")) ?? id;
}

/**
 * The items as messages. Outputs of calls are one message with what the user says behind them; with a conversation everything that the
 * user says is new, and one message too.
 */
function joined(items: readonly object[], isAllNew: boolean): ChatMessage[] {
  const messages: ChatMessage[] = [];
  let isOpen = false;
  for (const [index, item] of items.entries()) {
    const isOutput = (item as { type?: unknown }).type === "function_call_output";
    for (const message of readItem(item, index)) {
      const last = messages.at(-1);
      if (isOpen && last?.role === "user" && message.role === "user")
        messages[messages.length - 1] = { role: "user", content: [...partsIn(last), ...partsIn(message)] };
      else messages.push(message);
      isOpen = isAllNew || isOutput || (isOpen && message.role === "user");
    }
  }
  return messages;
}

function partsIn({ content }: ChatMessage): Record<string, unknown>[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
}

/** Items of the input as messages of a chat. Calls and reasoning of earlier answers are in the conversation's own log. */
function readItem(item: object, index: number): ChatMessage[] {
  const { type = "message", role, content } = item as Readonly<Record<string, unknown>>;
  switch (type) {
    case "message":
      if (typeof role !== "string") throw invalidField(["body", "input", index, "role"], "Send a role.");
      return [{ role, content: Array.isArray(content) ? content.map(readPart) : (content as string | null) }];
    case "function_call_output": {
      const { call, text } = outputOf(item)!;
      return [{ role: "user", content: `The output of the call ${call}:\n${text}` }];
    }
    case "function_call":
    case "reasoning":
      return [];
    default:
      throw unsupported(`input.${index}.type`, `Items of the type ${String(type)} are not supported here.`);
  }
}

/** Parts have other names on the newer wire. */
function readPart(part: unknown): Record<string, unknown> {
  const fields = isObject(part) ? part : {};
  const type = String(fields["type"]).replace(/^(?:input|output)_(?=text|image)/, "");
  return { ...fields, type: type === "image" ? "image_url" : type };
}

function readTool(tool: object, index: number): ClientToolSpec {
  const { type, name, description, parameters, ...given } = tool as Readonly<Record<string, unknown>>;
  const { waits_for_result: waits, timeout_seconds: seconds } = given;
  if (type !== "function")
    throw unsupported(`tools.${index}.type`, "Only tools of the type function are supported here.");
  if (typeof name !== "string" || name === "")
    throw invalidField(["body", "tools", index, "name"], "Send the name of the function.");
  return {
    name,
    description: typeof description === "string" ? description : "",
    ...(isObject(parameters) ? { parameters } : {}),
    ...(waits === true ? { waits_for_result: true } : {}),
    ...(typeof seconds === "number" ? { timeout_seconds: seconds } : {}),
  };
}

function unsupported(name: string, why = `${name} is not supported here. Leave it out.`): Fault {
  return new Fault("unusable", "unsupported_field", why, [], { facts: { param: name } });
}
