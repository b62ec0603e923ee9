import { Type, type Static } from "typebox";
import { ImageContent, TextContent } from "../message/content.ts";
import { anyObject, closedObject, object, ref } from "../schema.ts";

/** How long a call of a client tool waits for its result, in seconds. */
export const resultTimeout = { default: 300, max: 86_400 } as const;

/** What a client tool returned for one call. */
export const ToolResult = closedObject("ToolResult", {
  tool_call_id: Type.String({
    minLength: 1,
    maxLength: 1_000,
    description: "The `tool_call_id` of the call, or the id of its ActionEvent.",
  }),
  content: Type.Unsafe<string | (TextContent | ImageContent)[]>({
    description: "What the model reads: a text, or parts with texts and images.",
    anyOf: [
      Type.String(),
      Type.Array(Type.Unsafe({ anyOf: [ref(TextContent), ref(ImageContent)] }), { maxItems: 100 }),
    ],
  }),
  is_error: Type.Optional(Type.Boolean({ description: "The tool has failed; `content` says why." })),
});
export type ToolResult = Static<typeof ToolResult>;

/** Results of client tools: all of them are stored, or none. */
export const SendToolResultsRequest = closedObject("SendToolResultsRequest", {
  results: Type.Array(ref(ToolResult), { minItems: 1, maxItems: 100 }),
});
export type SendToolResultsRequest = Static<typeof SendToolResultsRequest>;

/** A call of a client tool that waits for its result. */
export const PendingToolCall = object("PendingToolCall", {
  action_id: Type.String(),
  tool_call_id: Type.String(),
  tool_name: Type.String(),
  deadline: Type.String({ format: "date-time", description: "After it the model reads an error instead." }),
});
export type PendingToolCall = Static<typeof PendingToolCall>;

export const PendingToolCalls = object("PendingToolCalls", {
  items: Type.Array(
    Type.Object({ ...PendingToolCall.properties, action: anyObject({ description: "The arguments." }) }),
  ),
});
export type PendingToolCalls = Static<typeof PendingToolCalls>;
