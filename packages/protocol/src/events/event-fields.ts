import { Type, type TProperties } from "typebox";
import { choice, closedObject } from "../schema.ts";
import { sources, type Source } from "./sources.ts";

const identity = {
  id: Type.Optional(Type.String({ description: "Unique in the conversation; grows with log order." })),
  timestamp: Type.Optional(Type.String({ description: "UTC, microseconds, ends in Z." })),
};

/** A closed event object whose `source` has a default. */
export function event<K extends string, P extends TProperties>(kind: K, source: Source, properties: P) {
  return closedObject(kind, {
    ...identity,
    source: Type.Optional(choice(sources, { default: source })),
    ...properties,
    kind: Type.Literal(kind),
  });
}

/** A closed event object without a default for `source`. */
export function eventWithSource<K extends string, P extends TProperties>(kind: K, properties: P) {
  return closedObject(kind, {
    ...identity,
    source: choice(sources),
    ...properties,
    kind: Type.Literal(kind),
  });
}
