import { configurationSchema } from "./configuration/configuration-schema.ts";
import { jsonShapes } from "./json-shapes.ts";

/** The files of docs/reference that are made of the sources, by name. */
export function referenceDocuments(): Readonly<Record<string, object>> {
  return {
    "cli.schema.json": {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      title: "Lines that commands print with --json",
      $defs: jsonShapes,
    },
    "config.schema.json": configurationSchema(),
  };
}
