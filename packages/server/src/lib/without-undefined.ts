/** Fields that may be undefined become optional ones that are never undefined. */
export type WithoutUndefined<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/** Names the primitive types, so that a field with a literal keeps its literal type. */
type Value = string | number | boolean | bigint | null | undefined | object;

/**
 * A copy without the fields that are undefined, in the same order; nested objects stay as they are. For what is stored, compared, cloned or
 * sent by a library: `JSON.stringify` leaves such fields out by itself.
 */
export function withoutUndefined<T extends Readonly<Record<string, V>>, V extends Value>(
  fields: T,
): WithoutUndefined<T> {
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) copy[key] = value;
  return copy as WithoutUndefined<T>;
}
