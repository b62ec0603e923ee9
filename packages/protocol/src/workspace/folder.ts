import { Type, type Static } from "typebox";
import { choice, nullable, object, orNull, ref } from "../schema.ts";

/** An entry of a folder. Links count as their targets; `other` cannot be read as a file or folder. */
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
