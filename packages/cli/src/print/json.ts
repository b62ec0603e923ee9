import type { JsonLine, JsonShape } from "../json-shapes.ts";

/** Prints one value of a shape that `json-shapes.ts` has: on one line, or indented. */
export function printJson<Shape extends JsonShape>(
  _shape: Shape,
  value: Printed<JsonLine<Shape>>,
  indent?: number,
): void {
  process.stdout.write(`${JSON.stringify(value, null, indent)}\n`);
}

/** Nothing is changed by printing it. */
type Printed<Value> = Value extends object
  ? { readonly [Field in keyof Value]: Printed<Value[Field]> }
  : Value;
