import { Type, type Static } from "typebox";
import { flag, object, orNull } from "../schema.ts";

/** Hints about what a tool may do to the world; the defaults assume the worst. */
export const ToolAnnotations = object("openhands__sdk__tool__tool__ToolAnnotations", {
  title: orNull(Type.String()),
  readOnlyHint: flag(false),
  destructiveHint: flag(true),
  idempotentHint: flag(false),
  openWorldHint: flag(true),
});
export type ToolAnnotations = Static<typeof ToolAnnotations>;
