import { Type, type Static } from "typebox";
import { anyObject, object } from "../schema.ts";

const toolFields = {
  name: Type.String({ description: "Registry name of a tool or of a set of tools." }),
  params: Type.Optional(anyObject({ impliedDefault: {} })),
};

/** A tool of an agent, with its parameters. */
export const Tool = object("openhands__sdk__tool__spec__Tool", toolFields);
export type Tool = Static<typeof Tool>;
export const ToolInput = object("Tool-Input", toolFields);
export type ToolInput = Static<typeof ToolInput>;
