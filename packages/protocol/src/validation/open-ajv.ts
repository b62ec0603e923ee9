import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { DataValidateFunction, DataValidationCxt } from "ajv/dist/types/index.js";
import formats from "ajv-formats";
import { fullFormats } from "ajv-formats/dist/formats.js";
import type { TSchema } from "typebox";
import { type Choice, toAjvForm } from "./ajv-form.ts";

/** Compiles a schema on first use, with everything it refers to; the branches of a choice are compiled on their own first use. */
export type Compile = (schema: TSchema) => ValidateFunction;

/** A compiler that knows the given schemas by name, and reports the first error or all of them. */
export function openAjv(byName: ReadonlyMap<string, TSchema>, allErrors: boolean): Compile {
  const ajv = new Ajv2020({
    allErrors,
    inlineRefs: false,
    strictTuples: false,
    strictTypes: false,
    useDefaults: true,
    validateSchema: false,
  });
  formats.default(ajv, ["binary", "password"]);
  ajv.addFormat("date-time", isDateTime);
  ajv.addFormat("path", true);
  ajv.addFormat("uuid", /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i);
  ajv.addKeyword({
    keyword: "choice",
    schemaType: "object",
    modifying: true,
    errors: "full",
    compile: (choice: Choice) => chooser(choice, (name) => compile(byName.get(name)!)),
  });

  const compiled = new Map<TSchema, ValidateFunction>();
  function compile(schema: TSchema): ValidateFunction {
    const ready = compiled.get(schema);
    if (ready !== undefined) return ready;
    const { $id } = schema as { $id?: string };
    const isKnown = $id !== undefined && byName.get($id) === schema;
    if (isKnown) add($id);
    else addReferences(toAjvForm(schema, byName));
    const validate = (isKnown ? ajv.getSchema($id) : undefined) ?? ajv.compile(toAjvForm(schema, byName));
    compiled.set(schema, validate);
    return validate;
  }

  const added = new Set<string>();
  function add(name: string): void {
    if (added.has(name)) return;
    added.add(name);
    const form = toAjvForm(byName.get(name)!, byName);
    ajv.addSchema(form);
    addReferences(form);
  }
  function addReferences(part: unknown): void {
    if (typeof part !== "object" || part === null) return;
    for (const [key, value] of Object.entries(part)) {
      if (key === "$ref") add(String(value));
      else addReferences(value);
    }
  }
  return compile;
}

const timePattern = /^[Tt ]([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)([.,]\d{1,9})?)?\s*([Zz]|[+\- ]\d\d:?\d\d)?$/;

/** RFC 3339, and common deviations: no zone, no seconds, no time, or a `+` that a query string turned into a space. */
function isDateTime(text: string): boolean {
  const date = fullFormats.date as { validate: (text: string) => boolean };
  return date.validate(text.slice(0, 10)) && (text.length === 10 || timePattern.test(text.slice(10)));
}

function chooser(choice: Choice, compile: (name: string) => ValidateFunction): DataValidateFunction {
  const { property, branches, untagged } = choice;
  const validate: DataValidateFunction = (data: unknown, context?: DataValidationCxt) => {
    if (!isObject(data)) {
      validate.errors = [notAnObject(context?.instancePath ?? "")];
      return false;
    }
    const tag = data[property];
    const name = tag === undefined ? guess(data, untagged) : ownValue(branches, tag);
    if (name === undefined) {
      validate.errors = [unknownTag(context?.instancePath ?? "", choice, tag === undefined)];
      return false;
    }
    const branch = compile(name);
    const isValid = branch(data, context);
    validate.errors = branch.errors ?? [];
    return isValid;
  };
  return validate;
}

function guess(data: object, untagged: Choice["untagged"]): string | undefined {
  const fitting = untagged.find(({ required }) => required.every((field) => Object.hasOwn(data, field)));
  return (fitting ?? untagged[0])?.name;
}

function ownValue(branches: Readonly<Record<string, string>>, tag: unknown): string | undefined {
  return typeof tag === "string" && Object.hasOwn(branches, tag) ? branches[tag] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function notAnObject(instancePath: string): ErrorObject {
  return { keyword: "type", instancePath, schemaPath: "#/choice", params: { type: "object" } };
}

function unknownTag(instancePath: string, choice: Choice, isMissing: boolean): ErrorObject {
  const params = { tag: choice.property, known: Object.keys(choice.branches), isMissing };
  return { keyword: "choice", instancePath, schemaPath: "#/choice", params };
}
