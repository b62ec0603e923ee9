type Kinds = {
  string: string;
  number: number;
  boolean: boolean;
  object: object;
  array: readonly unknown[];
};

/** The named fields of a message, without others. Throws when one is missing or has another type. */
export function readFields<Shape extends Readonly<Record<string, keyof Kinds>>>(
  value: unknown,
  shape: Shape,
): { readonly [Name in keyof Shape]: Kinds[Shape[Name]] } {
  const record = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  const fields = Object.entries(shape).map(([name, kind]) => {
    const field = record[name];
    const isRight =
      kind === "array"
        ? Array.isArray(field)
        : typeof field === kind && field !== null && !Array.isArray(field);
    if (!isRight) throw new Error(`The message's field "${name}" is not of kind ${kind}.`);
    return [name, field];
  });
  return Object.fromEntries(fields) as { readonly [Name in keyof Shape]: Kinds[Shape[Name]] };
}
