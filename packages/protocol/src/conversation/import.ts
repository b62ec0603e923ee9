import { Type, type Static } from "typebox";
import { choice, nullable, object } from "../schema.ts";

/** One conversation of an upload. */
export const ImportResult = object("ImportResult", {
  source: Type.String({ description: "Its folder in the archive, or the name of the file." }),
  status: choice(["imported", "unchanged", "would_import", "refused"], {
    description: "`unchanged`: it is here already, with the same events.",
  }),
  conversation_id: nullable(Type.String()),
  title: nullable(Type.String()),
  events: Type.Integer({ description: "Those of the source." }),
  warnings: Type.Array(Type.String()),
  code: nullable(Type.String({ description: "Why it is refused." })),
  detail: nullable(Type.String()),
  file: nullable(Type.String({ description: "The file that is wrong, where it is one." })),
  field: nullable(Type.String()),
});
export type ImportResult = Static<typeof ImportResult>;

export const ImportReport = object("ImportReport", { results: Type.Array(ImportResult) });
export type ImportReport = Static<typeof ImportReport>;
