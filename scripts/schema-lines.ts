/** What schemas of ours say that readers rely on. */
export type JsonSchema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
};

/**
 * A schema as lines that can be compared, at `place`: `ls.title: string | null`. The name of an optional field ends in `?`. A line is gone when
 * its field is, when it may have one more type, and when it is no longer always there.
 */
export function schemaLines(schema: JsonSchema, place: string): readonly string[] {
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [schema];
  return [
    `${place}: ${choices.map(typeOf).join(" | ")}`,
    ...choices.flatMap(({ enum: values = [], items, properties = {}, required = [] }) => [
      ...values.map((value) => `${place} = ${JSON.stringify(value)}`),
      ...(items === undefined ? [] : schemaLines(items, `${place}[]`)),
      ...Object.entries(properties).flatMap(([name, field]) =>
        schemaLines(field, `${place}.${name}${required.includes(name) ? "" : "?"}`),
      ),
    ]),
  ];
}

function typeOf({ $ref: reference, type, const: value }: JsonSchema): string {
  if (reference !== undefined) return reference.split("/").at(-1) ?? reference;
  if (value !== undefined) return JSON.stringify(value);
  return typeof type === "string" ? type : (type?.join(" | ") ?? "any");
}
