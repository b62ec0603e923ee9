import { Type, type Static } from "typebox";
import { list, object, orNull, ref } from "../schema.ts";

/** A starting place of a file browser. */
export const FileBrowserEntry = object("FileBrowserEntry", { label: Type.String(), path: Type.String() });
export type FileBrowserEntry = Static<typeof FileBrowserEntry>;

/** Starting places of a file browser. */
export const HomeResponse = object("HomeResponse", {
  home: Type.String(),
  favorites: list(ref(FileBrowserEntry)),
  locations: list(ref(FileBrowserEntry)),
});
export type HomeResponse = Static<typeof HomeResponse>;

export const SubdirectoryEntry = object("SubdirectoryEntry", { name: Type.String(), path: Type.String() });
export type SubdirectoryEntry = Static<typeof SubdirectoryEntry>;

export const SubdirectoryPage = object("SubdirectoryPage", {
  items: Type.Array(ref(SubdirectoryEntry)),
  next_page_id: orNull(Type.String()),
});
export type SubdirectoryPage = Static<typeof SubdirectoryPage>;
