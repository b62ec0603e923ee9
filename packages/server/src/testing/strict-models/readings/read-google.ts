import {
  isValue,
  listOf,
  textOr,
  textOrNull,
  type Reading,
  type ReadMessage,
  type Value,
} from "./reading.ts";

/** Reads a body of Gemini's own wire. Its roles `model` and `function` count as those of the others. */
export function readGoogle(body: Value): Reading {
  return {
    messages: listOf(body["contents"]).map(toMessage),
    tools: listOf(body["tools"])
      .flatMap((tool) => listOf(tool["functionDeclarations"]))
      .map((tool, at) => ({
        name: textOr(tool["name"], ""),
        description: textOrNull(tool["description"]),
        schema: tool["parameters"] ?? tool["parametersJsonSchema"],
        at,
      })),
  };
}

function toMessage(raw: Value, at: number): ReadMessage {
  const parts = [...listOf(raw["parts"]).entries()];
  const holding = (field: string): { part: number; raw: Value; inner: Value }[] =>
    parts.flatMap(([part, one]) => {
      const inner = one[field];
      return isValue(inner) ? [{ part, raw: one, inner }] : [];
    });
  const results = holding("functionResponse");
  return {
    role: raw["role"] === "model" ? "assistant" : results.length > 0 ? "tool" : textOr(raw["role"], "user"),
    at,
    texts: parts.flatMap(([part, one]) =>
      typeof one["text"] === "string" ? [{ text: one["text"], part }] : [],
    ),
    images: holding("inlineData").length,
    calls: holding("functionCall").map(({ part, raw: one, inner }) => ({
      id: textOrNull(inner["id"]),
      name: textOr(inner["name"], ""),
      arguments: inner["args"],
      part,
      raw: one,
    })),
    results: results.map(({ part, raw: one, inner }) => ({
      id: textOrNull(inner["id"]),
      name: textOrNull(inner["name"]),
      part,
      raw: one,
    })),
    raw,
  };
}
