import { listOf, textOr, textOrNull, type Reading, type ReadMessage, type Value } from "./reading.ts";

/** Reads a body of the responses wire: every item counts as a message of its own. */
export function readResponses(body: Value): Reading {
  return {
    messages: listOf(body["input"]).map(toMessage),
    tools: listOf(body["tools"]).map((tool, at) => ({
      name: textOr(tool["name"], ""),
      description: textOrNull(tool["description"]),
      schema: tool["parameters"],
      at,
    })),
  };
}

function toMessage(raw: Value, at: number): ReadMessage {
  const none = { at, texts: [], images: 0, calls: [], results: [], raw };
  const id = textOrNull(raw["call_id"]);
  switch (raw["type"]) {
    case "function_call": {
      const name = textOr(raw["name"], "");
      return {
        ...none,
        role: "assistant",
        calls: [{ id, name, arguments: raw["arguments"], part: 0, raw }],
      };
    }
    case "function_call_output":
      return { ...none, role: "tool", results: [{ id, name: null, part: 0, raw }] };
    case "reasoning":
      return { ...none, role: "assistant" };
    default: {
      const { content } = raw;
      const parts = listOf(content);
      return {
        ...none,
        role: textOr(raw["role"], ""),
        images: parts.filter((part) => part["type"] === "input_image").length,
        texts:
          typeof content === "string"
            ? [{ text: content, part: null }]
            : parts.flatMap((part, index) =>
                typeof part["text"] === "string" ? [{ text: part["text"], part: index }] : [],
              ),
      };
    }
  }
}
