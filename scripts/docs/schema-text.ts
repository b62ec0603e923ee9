/** The parts of a JSON schema that are shown. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
};

export type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

export type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
};

export type Operation = {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Content };
  readonly responses?: Readonly<
    Record<string, { readonly description?: string; readonly content?: Content }>
  >;
};

/** More values than that are only counted. */
const maxValues = 20;

/** The last part of `#/components/schemas/Name`. */
export function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

/** A schema as Markdown; the names in `types` are links into the same page, all but `self`. */
export function textOf(schema: Schema, types: readonly string[], self = ""): string {
  const options = schema.anyOf ?? schema.oneOf;
  if (schema.$ref !== undefined) return reference(nameOf(schema.$ref), types, self);
  if (options !== undefined) {
    return [...new Set(options.map((option) => textOf(option, types, self)))].join(" or ");
  }
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum !== undefined) {
    return schema.enum.length > maxValues
      ? `one of ${schema.enum.length} names`
      : schema.enum.map(code).join(", ");
  }
  if (schema.type === "array") return `list of ${textOf(schema.items ?? {}, types, self)}`;
  if (schema.type === "object") {
    const { additionalProperties: values } = schema;
    return typeof values === "object" ? `object of ${textOf(values, types, self)}` : "object";
  }
  if (schema.type === undefined) return "anything";
  return `${[schema.type].flat().join(" or ")}${schema.format === undefined ? "" : ` (${schema.format})`}`;
}

/** Rows of field, type and meaning of an object's fields. */
export function schemaRows({ properties = {}, required = [] }: Schema, types: readonly string[]): string[][] {
  return Object.entries(properties).map(([name, field]) => [
    `\`${name}\`${requiredMark(required.includes(name))}`,
    textOf(field, types),
    meaningOf(field),
  ]);
}

/** The description of a field, and its default where it has one. */
export function meaningOf({
  description,
  default: value,
}: Pick<Schema, "default"> & { description?: string | undefined }): string {
  return [description, value === undefined ? undefined : `Default ${code(value)}.`]
    .filter((part) => part !== undefined)
    .join(" ");
}

export function requiredMark(isRequired: boolean): string {
  return isRequired ? " (required)" : "";
}

/** A Markdown table; empty without rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  return [head, head.map(() => "---"), ...rows]
    .map(
      (row) =>
        `| ${row.map((cell) => cell.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ")).join(" | ")} |`,
    )
    .join("\n");
}

function reference(name: string, types: readonly string[], self: string): string {
  return name !== self && types.includes(name) ? `[${name}](#${name.toLowerCase()})` : `\`${name}\``;
}

function code(value: unknown): string {
  const text = JSON.stringify(value);
  return `\`${text.length > 120 ? `${text.slice(0, 117)}...` : text}\``;
}
