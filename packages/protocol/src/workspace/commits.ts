import { Type, type Static } from "typebox";
import { object, ref } from "../schema.ts";

/** One commit of a branch. */
export const GitCommit = object("GitCommit", {
  sha: Type.String(),
  short_sha: Type.String(),
  subject: Type.String(),
  author: Type.String(),
  timestamp: Type.String({ description: "With the author's offset." }),
});
export type GitCommit = Static<typeof GitCommit>;

/** The newest commits of a branch. */
export const GitCommitsPage = object("GitCommitsPage", {
  commits: Type.Array(ref(GitCommit)),
  has_more: Type.Boolean(),
});
export type GitCommitsPage = Static<typeof GitCommitsPage>;
