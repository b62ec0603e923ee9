import type {
  ChatCompletionRequest,
  ChatMessage,
  ImageContent,
  Message,
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

/** Reads a chat: its last user message is the task, what came before it is history. `field` is where the request has it. */
export function readChat({ messages = [] }: ChatCompletionRequest, field = "messages"): ChatInput {
  const last = messages.findLastIndex(({ role }) => role === "user");
  if (last === -1) throw invalidField(["body", field], "Send at least one message of the role user.");
  const turns = messages.slice(0, last).map((message) => ({ role: message.role, text: textOf(message) }));
  const isSystem = ({ role }: { readonly role: string }): boolean =>
    role === "system" || role === "developer";
  return {
    message: { role: "user", content: partsOf(messages[last]!, [field, last]), thinking_blocks: [] },
    system: messages.filter(isSystem).map(textOf).join("\n\n").trim(),
    history: turns.filter((turn) => !isSystem(turn) && turn.text !== ""),
  };
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

function partsOf(
  { content }: ChatMessage,
  place: readonly (string | number)[],
): (TextContent | ImageContent)[] {
  if (typeof content === "string") return [{ type: "text", text: content, cache_prompt: false }];
  return (content ?? []).map((part, at): TextContent | ImageContent => {
    const { type, text, image_url: image } = part;
    if (type === "text" && typeof text === "string") return { type: "text", text, cache_prompt: false };
    const url = typeof image === "string" ? image : (image as { url?: unknown } | undefined)?.url;
    if (type === "image_url" && typeof url === "string")
      return { type: "image", image_urls: [url], cache_prompt: false };
    throw invalidField(["body", ...place, "content", at], "A part is of the type text or image_url.");
  });
}
