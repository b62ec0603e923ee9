import { configurationSchema } from "../configuration/configuration-schema.ts";
import { jsonOutputs } from "../json-outputs.ts";
import { jsonShapes } from "../json-shapes.ts";

/** The files of docs/reference that are made of the sources, by name. */
export function referenceDocuments(): Readonly<Record<string, object>> {
  return {
    "cli.schema.json": {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      title: "What commands print with --json",
      description: "A property is a command: the shape of each line that it prints, or of its one value.",
      properties: Object.fromEntries(
        Object.entries(jsonOutputs).map(([command, { shapes }]) => [
          command,
          { anyOf: shapes.map((shape) => ({ $ref: `#/$defs/${shape}` })) },
        ]),
      ),
      $defs: jsonShapes,
    },
    "config.schema.json": configurationSchema(),
  };
}
