import type { TSchema } from "typebox";

/** A 200 with a body. */
export function ok<T extends TSchema>(description: string, schema: T) {
  return { 200: { description, schema } } as const;
}
