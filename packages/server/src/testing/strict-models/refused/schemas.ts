import type { WireName } from "../../scripted-model/wire.ts";

/** Where the schema of the only tool is. */
export const schemaPlaces: Readonly<Record<WireName, string>> = {
  "openai-chat": "tools.0.function.parameters",
  "openai-responses": "tools.0.parameters",
  anthropic: "tools.0.input_schema",
  google: "tools.0.functionDeclarations.0.parameters",
  bedrock: "toolConfig.tools.0.toolSpec.inputSchema.json",
};

export type SchemaName = keyof typeof schemas;

/** Schemas that one provider or another refuses; all of them come from MCP servers that people run. */
export const schemas = {
  "an array without items": { type: "object", properties: { a: { type: "array" } } },
  "a pattern that looks around": {
    type: "object",
    properties: { email: { type: "string", pattern: "^(?!\\.)[a-z.]+@[a-z.]+$" } },
  },
  "a pattern that is none": { type: "object", properties: { a: { type: "string", pattern: "[a" } } },
  "a choice at the root": {
    type: "object",
    properties: { a: { type: "string" } },
    anyOf: [{ required: ["a"] }],
  },
  "a root without a type": { properties: { a: { type: "string" } } },
  "a constant": { type: "object", properties: { a: { type: "string", const: "x" } } },
  "several types": { type: "object", properties: { a: { type: ["string", "null"] } } },
  "a part without a type": { type: "object", properties: { a: { description: "Anything." } } },
  "a type that is none": { type: "object", properties: { a: { type: "any" } } },
  "a reference elsewhere": { type: "object", properties: { a: { $ref: "https://example.com/a.json" } } },
  "required and not there": { type: "object", properties: {}, required: ["b"] },
  "required without properties": { type: "object", required: [] },
  "a list of items": { type: "object", properties: { a: { type: "array", items: [{ type: "string" }] } } },
  "a key with a blank": { type: "object", properties: { "a b": { type: "string" } } },
  "a format": { type: "object", properties: { a: { type: "string", format: "uri" } } },
} as const;
