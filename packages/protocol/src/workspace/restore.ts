import { Type, type Static } from "typebox";
import { closedObject, orAbsent } from "../schema.ts";

/** A file to restore. */
export const RestoreFileRequest = closedObject("RestoreFileRequest", {
  path: Type.String({ description: "Absolute, inside the directory of the conversation." }),
  ref: orAbsent(Type.String(), {
    description: "What it was in this commit; without it, in what the branch started from.",
  }),
});
export type RestoreFileRequest = Static<typeof RestoreFileRequest>;
