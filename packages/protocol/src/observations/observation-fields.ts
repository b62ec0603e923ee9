import { Type, type TProperties } from "typebox";
import type { ContentPart } from "../message/message.ts";
import { contentPart } from "../message/message.ts";
import { closedObject, flag, list } from "../schema.ts";

/** Fields of every observation: the parts that the model sees, and whether they report a failure. */
export type ObservationBase = { readonly content?: ContentPart[]; readonly is_error?: boolean };

/** A closed observation object. */
export function observation<K extends string, P extends TProperties>(kind: K, properties: P) {
  return closedObject(kind, {
    content: list(contentPart),
    is_error: flag(false),
    ...properties,
    kind: Type.Literal(kind),
  });
}
