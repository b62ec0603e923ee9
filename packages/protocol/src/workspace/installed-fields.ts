import { Type } from "typebox";
import { flag, orAbsent, orNull } from "../schema.ts";

/** A directory of the machine that tools run on, or a git repository with a branch, tag or commit and a folder in it. */
export const sourceFields = {
  source: Type.String({ minLength: 1, maxLength: 4_096 }),
  ref: orAbsent(Type.String({ maxLength: 256 })),
  repo_path: orAbsent(Type.String({ maxLength: 4_096 })),
};

/** `resolved_ref` is the commit, `digest` that of the copy, both null for a directory. */
export const installedFields = {
  name: Type.String(),
  version: Type.Optional(Type.String({ default: "" })),
  description: Type.Optional(Type.String({ default: "" })),
  enabled: flag(true),
  source: Type.String(),
  requested_ref: orNull(Type.String()),
  resolved_ref: orNull(Type.String()),
  digest: orNull(Type.String()),
  repo_path: orNull(Type.String()),
  installed_at: Type.String(),
  install_path: Type.String(),
};
