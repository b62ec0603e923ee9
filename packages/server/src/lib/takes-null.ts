/** Whether a JSON Schema takes null. */
export function takesNull(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  const { type, anyOf, oneOf, allOf, enum: values } = schema as Record<string, unknown>;
  const choices = [anyOf, oneOf].flatMap((choice) => (Array.isArray(choice) ? (choice as unknown[]) : []));
  return (
    type === "null" ||
    (Array.isArray(type) && type.includes("null")) ||
    (Array.isArray(values) && values.includes(null)) ||
    ("const" in schema && schema.const === null) ||
    choices.some(takesNull) ||
    (Array.isArray(allOf) && allOf.length > 0 && allOf.every(takesNull))
  );
}
