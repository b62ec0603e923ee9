import {
  isValue,
  listOf,
  textOr,
  textOrNull,
  type Reading,
  type ReadMessage,
  type Value,
} from "./reading.ts";

/** Reads a body of the chat completions wire. */
export function readChat(body: Value): Reading {
  return {
    messages: listOf(body["messages"]).map(toMessage),
    tools: listOf(body["tools"]).map((tool, at) => {
      const declared = isValue(tool["function"]) ? tool["function"] : {};
      return {
        name: textOr(declared["name"], ""),
        description: textOrNull(declared["description"]),
        schema: declared["parameters"],
        at,
      };
    }),
  };
}

function toMessage(raw: Value, at: number): ReadMessage {
  const role = textOr(raw["role"], "");
  const { content } = raw;
  const parts = listOf(content);
  return {
    role,
    at,
    texts:
      typeof content === "string"
        ? [{ text: content, part: null }]
        : parts.flatMap((part, index) =>
            typeof part["text"] === "string" ? [{ text: part["text"], part: index }] : [],
          ),
    images: parts.filter((part) => part["type"] === "image_url").length,
    calls: listOf(raw["tool_calls"]).map((call, part) => {
      const called = isValue(call["function"]) ? call["function"] : {};
      return {
        id: textOrNull(call["id"]),
        name: textOr(called["name"], ""),
        arguments: called["arguments"],
        part,
        raw: call,
      };
    }),
    results:
      role === "tool"
        ? [{ id: textOrNull(raw["tool_call_id"]), name: textOrNull(raw["name"]), part: 0, raw }]
        : [],
    raw,
  };
}
