import { Type, type TProperties } from "typebox";
import { closedObject } from "../schema.ts";

/** A closed action object: its fields are the arguments that the model gives. */
export function action<K extends string, P extends TProperties>(kind: K, properties: P) {
  return closedObject(kind, { ...properties, kind: Type.Literal(kind) });
}
