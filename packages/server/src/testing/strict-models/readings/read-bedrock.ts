import {
  isValue,
  listOf,
  textOr,
  textOrNull,
  type Reading,
  type ReadMessage,
  type Value,
} from "./reading.ts";

/** Reads a body of Bedrock's converse. The system text is beside the messages and not among them. */
export function readBedrock(body: Value): Reading {
  const config = isValue(body["toolConfig"]) ? body["toolConfig"] : {};
  return {
    messages: listOf(body["messages"]).map(toMessage),
    tools: listOf(config["tools"]).flatMap((tool, at) => {
      const spec = tool["toolSpec"];
      if (!isValue(spec)) return [];
      const schema = isValue(spec["inputSchema"]) ? spec["inputSchema"]["json"] : undefined;
      return [{ name: textOr(spec["name"], ""), description: textOrNull(spec["description"]), schema, at }];
    }),
  };
}

function toMessage(raw: Value, at: number): ReadMessage {
  const blocks = [...listOf(raw["content"]).entries()];
  const holding = (field: string): { part: number; inner: Value }[] =>
    blocks.flatMap(([part, block]) => {
      const inner = block[field];
      return isValue(inner) ? [{ part, inner }] : [];
    });
  return {
    role: textOr(raw["role"], ""),
    at,
    texts: blocks.flatMap(([part, block]) =>
      typeof block["text"] === "string" ? [{ text: block["text"], part }] : [],
    ),
    images: holding("image").length,
    calls: holding("toolUse").map(({ part, inner }) => ({
      id: textOrNull(inner["toolUseId"]),
      name: textOr(inner["name"], ""),
      arguments: inner["input"],
      part,
      raw: inner,
    })),
    results: holding("toolResult").map(({ part, inner }) => ({
      id: textOrNull(inner["toolUseId"]),
      name: null,
      part,
      raw: inner,
    })),
    raw,
  };
}
