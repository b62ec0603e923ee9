import { Type, type Static } from "typebox";
import { flag, orNull } from "../schema.ts";
import { observation } from "./observation-fields.ts";

/** The files whose name matches, newest first. */
export const GlobObservation = observation("GlobObservation", {
  files: Type.Array(Type.String()),
  pattern: Type.String(),
  search_path: Type.String(),
  truncated: flag(false),
});
export type GlobObservation = Static<typeof GlobObservation>;

/** The files whose content matches, newest first. */
export const GrepObservation = observation("GrepObservation", {
  matches: Type.Array(Type.String()),
  pattern: Type.String(),
  search_path: Type.String(),
  include_pattern: orNull(Type.String()),
  truncated: flag(false),
});
export type GrepObservation = Static<typeof GrepObservation>;
