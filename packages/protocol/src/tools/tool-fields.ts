import { Type, type TProperties } from "typebox";
import { anyObject, object, orNull, ref } from "../schema.ts";
import { ToolAnnotations } from "./tool-annotations.ts";

/** A tool definition. It carries no name: `title` is the tool's name unless the annotations give another title. */
export function toolDefinition<K extends string>(kind: K) {
  return toolDefinitionWith(kind, {});
}

/** A tool definition with fields of its own. */
export function toolDefinitionWith<K extends string, P extends TProperties>(kind: K, properties: P) {
  return object(kind, {
    description: Type.String(),
    action_type: Type.String({ description: "Kind name of the actions that the tool takes." }),
    observation_type: orNull(Type.String(), { description: "Kind name of the observations that it gives." }),
    annotations: orNull(ref(ToolAnnotations)),
    meta: orNull(anyObject()),
    ...properties,
    kind: Type.Literal(kind),
    title: Type.String({ readOnly: true }),
  });
}
