import { Type, type Static } from "typebox";
import { TextContent } from "../message/content.ts";
import { orAbsent, ref } from "../schema.ts";
import { ToolDefinition } from "../tools/tool-definition.ts";
import { event } from "./event-fields.ts";

/** The system prompt and the tools of a conversation. `dynamic_context` is the part that differs per conversation. */
export const SystemPromptEvent = event("SystemPromptEvent", "agent", {
  system_prompt: ref(TextContent),
  tools: Type.Array(ref(ToolDefinition)),
  dynamic_context: orAbsent(ref(TextContent)),
});
export type SystemPromptEvent = Static<typeof SystemPromptEvent>;
