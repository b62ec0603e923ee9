import type { ToolListing } from "./host.ts";
import type { ToolContext, ToolFace } from "./tool.ts";

/** Describes a tool as a session with this context offers it. */
export function listTool(face: ToolFace, context: ToolContext): ToolListing {
  const { name, actionKind, isReadOnly, parameters } = face;
  const traits = face.traits?.(context);
  return {
    name,
    actionKind,
    isReadOnly,
    ...(traits === undefined ? {} : { traits }),
    definition: face.define(context),
    ...(parameters === undefined ? {} : { parameters }),
  };
}
