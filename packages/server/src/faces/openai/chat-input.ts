import type {
  ChatCompletionRequest,
  ChatMessage,
  ImageContent,
  Message,
  OpenAIResponseRequest,
  TextContent,
} from "@convoke/protocol";
import { invalidField } from "../../lib/fault.ts";

/** A parsed chat request. */
export type ChatInput = {
  /** The message for the agent. */
  readonly message: Message;
  /** Texts of system and developer, "" when there are none. */
  readonly system: string;
  /** The turns before the message, which identify a chat. */
  readonly history: readonly ChatTurn[];
};

export type ChatTurn = { readonly role: string; readonly text: string };

/** Reads a chat: its last user message is the task, what came before it is history. */
export function readChat({ messages = [] }: ChatCompletionRequest): ChatInput {
  const last = messages.findLastIndex(({ role }) => role === "user");
  if (last === -1) throw invalidField(["body", "messages"], "Send at least one message of the role user.");
  const turns = messages.slice(0, last).map((message) => ({ role: message.role, text: textOf(message) }));
  const isSystem = ({ role }: { readonly role: string }): boolean =>
    role === "system" || role === "developer";
  return {
    message: { role: "user", content: partsOf(messages[last]!, last), thinking_blocks: [] },
    system: messages.filter(isSystem).map(textOf).join("\n\n").trim(),
    history: turns.filter((turn) => !isSystem(turn) && turn.text !== ""),
  };
}

/** A request of the newer wire as a chat. An earlier answer is not found by its id, and nothing is streamed. */
export function readResponseChat(request: OpenAIResponseRequest): ChatInput {
  const { input, instructions, previous_response_id: previous, stream } = request;
  if (stream === true) {
    throw invalidField(["body", "stream"], "Leave it out; /v1/chat/completions streams.", "not_supported");
  }
  if (previous) {
    const msg = "Leave it out and send the earlier messages in input: the chat goes on in its conversation.";
    throw invalidField(["body", "previous_response_id"], msg, "not_supported");
  }
  const asked: readonly ChatMessage[] =
    typeof input === "string" ? [{ role: "user", content: input }] : input;
  const system = instructions ? [{ role: "system", content: instructions }] : [];
  return readChat({ model: request.model, messages: [...system, ...asked.map(asChatMessage)] });
}

/** Parts have other names on the newer wire. */
function asChatMessage(message: ChatMessage): ChatMessage {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const parts = content.map((part) => {
    const type = String(part["type"]).replace(/^(?:input|output)_(?=text|image)/, "");
    return { ...part, type: type === "image" ? "image_url" : type };
  });
  return { ...message, content: parts };
}

/** The history of a chat for an agent without it. */
export function describeHistory(history: readonly ChatTurn[]): string {
  if (history.length === 0) return "";
  const turns = history.map(({ role, text }) => `${role}: ${text}`);
  return ["<chat_so_far>", "The user's message goes on with this chat.", ...turns, "</chat_so_far>"].join(
    "\n",
  );
}

function textOf({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  return (content ?? [])
    .flatMap((part) => (typeof part["text"] === "string" ? [part["text"]] : []))
    .join("\n");
}

function partsOf({ content }: ChatMessage, index: number): (TextContent | ImageContent)[] {
  if (typeof content === "string") return [{ type: "text", text: content, cache_prompt: false }];
  return (content ?? []).map((part, at): TextContent | ImageContent => {
    const { type, text, image_url: image } = part;
    if (type === "text" && typeof text === "string") return { type: "text", text, cache_prompt: false };
    const url = typeof image === "string" ? image : (image as { url?: unknown } | undefined)?.url;
    if (type === "image_url" && typeof url === "string")
      return { type: "image", image_urls: [url], cache_prompt: false };
    throw invalidField(
      ["body", "messages", index, "content", at],
      "A part is of the type text or image_url.",
    );
  });
}
