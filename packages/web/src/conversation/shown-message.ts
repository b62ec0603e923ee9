import { asRecord, listAt, numberAt, textAt, textsAt, type UnknownRecord } from "@convoke/client/view";

/** One message of a request as the panel shows it. */
export type ShownMessage = {
  readonly role: string;
  /** Reasoning, text, and calls with their arguments, in this order. */
  readonly text: string;
  /** For a tool result: the tool. */
  readonly tool: string;
  readonly pictures: number;
  readonly tokens: number;
  readonly eventIds: readonly string[];
};

export function shownMessage(message: UnknownRecord): ShownMessage {
  const parts = listAt(message, "content").map(asRecord);
  const thoughts = listAt(message, "thinkingBlocks").map((block) => textAt(asRecord(block), "thinking"));
  const calls = listAt(message, "toolCalls").map((call) => {
    const known = asRecord(call);
    return `${textAt(known, "name")}(${textAt(known, "arguments")})`;
  });
  const reasoning = textAt(message, "reasoningContent");
  const texts = [reasoning, ...thoughts, ...parts.map((part) => textAt(part, "text")), ...calls];
  return {
    role: textAt(message, "role"),
    text: texts.filter((text, index) => text !== "" && texts.indexOf(text) === index).join("\n\n"),
    tool: textAt(message, "name"),
    pictures: parts.reduce((sum, part) => sum + textsAt(part, "image_urls").length, 0),
    tokens: numberAt(message, "tokens") ?? 0,
    eventIds: textsAt(message, "event_ids"),
  };
}

/** A tool's name and description. */
export function shownTool(tool: UnknownRecord): { readonly name: string; readonly text: string } {
  return { name: textAt(tool, "name"), text: textAt(tool, "description") };
}
