import { Type, type Static } from "typebox";
import { choice, nullable, object, orNull, ref } from "../schema.ts";

/** What stands in a folder. What a link leads to counts; `other` is what cannot be read as a file or a folder. */
export const FolderEntry = object("FolderEntry", {
  name: Type.String(),
  type: choice(["directory", "file", "other"]),
  size: nullable(Type.Integer(), { description: "Bytes; null for what is no file." }),
  modified_at: nullable(Type.String({ format: "date-time" })),
});
export type FolderEntry = Static<typeof FolderEntry>;

export const FolderPage = object("FolderPage", {
  items: Type.Array(ref(FolderEntry)),
  next_page_id: orNull(Type.String()),
});
export type FolderPage = Static<typeof FolderPage>;
