import { Type } from "typebox";
import { anyObject, orAbsent } from "../schema.ts";

/** Agent fields of newer clients; optional, and in replies only if they were sent. */
export const agentExtensions = {
  system_prompt: orAbsent(Type.String(), { description: "Replaces the built-in system prompt." }),
  response_schema: orAbsent(
    anyObject({ description: "Like `response_schema` of the start request, which counts before it." }),
  ),
  tool_concurrency_limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: "How many calls of one model response may run at once; 1 when absent.",
    }),
  ),
};
