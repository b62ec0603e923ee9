import { Type, type Static } from "typebox";
import { resultTimeout } from "../conversation/tool-results.ts";
import { anyObject, object, orAbsent, ref } from "../schema.ts";
import { ToolAnnotations } from "../tools/tool-annotations.ts";

/**
 * A tool that the client executes when it sees the ActionEvent. The agent only sees that the call was handed over, unless the tool
 * waits for its result.
 */
export const ClientToolSpec = object("ClientToolSpec", {
  name: Type.String({ minLength: 1, maxLength: 64, description: "What the model calls the tool." }),
  description: Type.String({ maxLength: 8_000, description: "What the model is told of it." }),
  parameters: Type.Optional(
    anyObject({ description: "JSON Schema of the arguments, an object; without it there are none." }),
  ),
  annotations: orAbsent(ref(ToolAnnotations)),
  waits_for_result: Type.Optional(
    Type.Boolean({
      description: "The run waits for what the client sends to POST .../tool_results; false unless given.",
    }),
  ),
  timeout_seconds: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: resultTimeout.max,
      description: `How long it waits; ${resultTimeout.default} unless given. Only with waits_for_result.`,
    }),
  ),
});
export type ClientToolSpec = Static<typeof ClientToolSpec>;

/** Prefix of the action kinds of client tools; the tool's name follows. */
export const clientActionPrefix = "ClientAction_";
