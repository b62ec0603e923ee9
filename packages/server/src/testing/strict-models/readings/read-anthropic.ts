import { listOf, textOr, textOrNull, type Reading, type ReadMessage, type Value } from "./reading.ts";

/** Reads a body of the Anthropic messages wire. The system text is beside the messages and not among them. */
export function readAnthropic(body: Value): Reading {
  return {
    messages: listOf(body["messages"]).map(toMessage),
    tools: listOf(body["tools"]).map((tool, at) => ({
      name: textOr(tool["name"], ""),
      description: textOrNull(tool["description"]),
      schema: tool["input_schema"],
      at,
    })),
  };
}

function toMessage(raw: Value, at: number): ReadMessage {
  const { content } = raw;
  const blocks = [...listOf(content).entries()];
  const ofType = (type: string): readonly (readonly [number, Value])[] =>
    blocks.filter(([, block]) => block["type"] === type);
  return {
    role: textOr(raw["role"], ""),
    at,
    texts:
      typeof content === "string"
        ? [{ text: content, part: null }]
        : ofType("text").map(([part, block]) => ({ text: textOr(block["text"], ""), part })),
    images: ofType("image").length,
    calls: ofType("tool_use").map(([part, block]) => ({
      id: textOrNull(block["id"]),
      name: textOr(block["name"], ""),
      arguments: block["input"],
      part,
      raw: block,
    })),
    results: ofType("tool_result").map(([part, block]) => ({
      id: textOrNull(block["tool_use_id"]),
      name: null,
      part,
      raw: block,
    })),
    raw,
  };
}
