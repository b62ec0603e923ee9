import { Type, type Static } from "typebox";
import { anyObject, object, orAbsent, ref } from "../schema.ts";
import { ToolAnnotations } from "../tools/tool-annotations.ts";

/** A tool that the client executes when it sees the ActionEvent; the agent only sees that the call was handed over. */
export const ClientToolSpec = object("ClientToolSpec", {
  name: Type.String({ minLength: 1, maxLength: 64, description: "What the model calls the tool." }),
  description: Type.String({ maxLength: 8_000, description: "What the model is told of it." }),
  parameters: Type.Optional(
    anyObject({ description: "JSON Schema of the arguments, an object; without it there are none." }),
  ),
  annotations: orAbsent(ref(ToolAnnotations)),
});
export type ClientToolSpec = Static<typeof ClientToolSpec>;

/** Prefix of the action kinds of client tools; the tool's name follows. */
export const clientActionPrefix = "ClientAction_";
