import type { JsonLine, JsonShape } from "../json-shapes.ts";

/** Prints one object of a shape that `json-shapes.ts` has, on one line. */
export function printJson<Shape extends JsonShape>(_shape: Shape, line: JsonLine<Shape>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
