import type { ModelMessage } from "./model.ts";

/** A message as people may read it in logs: without what is sealed, and with images as their size. */
export function toPlainMessage(message: ModelMessage): Record<string, unknown> {
  const content = message.content.map((part) =>
    "image_urls" in part
      ? { type: "image", image_urls: part.image_urls.map(shortUrl) }
      : { type: "text", text: part.text },
  );
  if (message.role === "tool") {
    return { role: "tool", tool_call_id: message.toolCallId, name: message.name, content };
  }
  if (message.role !== "assistant") return { role: message.role, content };
  const toolCalls = message.toolCalls.map(({ id, name, arguments: text }) => ({ id, name, arguments: text }));
  return { role: "assistant", content, reasoning_content: message.reasoningContent, tool_calls: toolCalls };
}

function shortUrl(url: string): string {
  return url.startsWith("data:") ? `${url.slice(0, url.indexOf(",") + 1)}[${url.length} characters]` : url;
}
