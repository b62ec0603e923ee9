import { Type, type Static } from "typebox";
import { choice, nullable, object, ref } from "../schema.ts";

export const GitChangeStatus = choice(["MOVED", "ADDED", "DELETED", "UPDATED"], { $id: "GitChangeStatus" });
export type GitChangeStatus = Static<typeof GitChangeStatus>;

/** One changed file. */
export const GitChange = object("GitChange", {
  status: ref(GitChangeStatus),
  path: Type.String({ format: "path" }),
});
export type GitChange = Static<typeof GitChange>;

/** Both sides of one file; null where the file does not exist. */
export const GitDiff = object("GitDiff", {
  modified: nullable(Type.String()),
  original: nullable(Type.String()),
});
export type GitDiff = Static<typeof GitDiff>;
