import type { ImageContent, MessageToolCall, TextContent } from "@convoke/protocol";
import { placeholders } from "../message-text.ts";
import type { ModelMessage, ModelTool } from "../model.ts";
import { parseReplayedArguments } from "../replayed-arguments.ts";

/** What a model is told about its tools and about how to call them. */
export function describeTools(tools: readonly ModelTool[]): string {
  return [
    "# Tools",
    "You work by calling tools. A call is text of exactly this form, on lines of its own:",
    '<call name="TOOL">\n<arg name="ARGUMENT">\nvalue\n</arg>\n</call>',
    [
      "Write text values as they are, on as many lines as they need, without quotes or escapes.",
      "Write numbers, booleans, lists and objects as JSON.",
      "You may make several calls in one answer; write what you have to say before the first one and stop after the last one.",
      'Results come back as <result name="TOOL">...</result>; never write a result yourself.',
    ].join("\n"),
    ...tools.map(describeTool),
  ].join("\n\n");
}

/** Calls in the form that `describeTools` asks for. */
export function renderCalls(calls: readonly MessageToolCall[]): string {
  return calls.map(renderCall).join("\n");
}

/** A result as a part of a user message; images follow their text. */
export function renderResult(
  message: Extract<ModelMessage, { role: "tool" }>,
): (TextContent | ImageContent)[] {
  const texts = message.content.flatMap((part) =>
    "text" in part && part.text.trim() !== "" ? [part.text] : [],
  );
  const images = message.content.filter((part) => "image_urls" in part);
  const body =
    texts.length === 0 ? (images.length > 0 ? "(an image)" : placeholders.tool) : texts.join("\n\n");
  return [{ type: "text", text: `<result name="${message.name}">\n${body}\n</result>` }, ...images];
}

function describeTool({ name, description, parameters }: ModelTool): string {
  return `## ${name}\n${description.trim()}\nArguments as JSON Schema: ${JSON.stringify(parameters)}`;
}

function renderCall(call: MessageToolCall): string {
  const values = Object.entries(parseReplayedArguments(call.arguments));
  const lines = values.map(
    ([name, value]) =>
      `<arg name="${name}">\n${typeof value === "string" ? value : JSON.stringify(value)}\n</arg>`,
  );
  return [`<call name="${call.name}">`, ...lines, "</call>"].join("\n");
}
