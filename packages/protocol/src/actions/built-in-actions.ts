import { Type, type Static } from "typebox";
import { anyObject } from "../schema.ts";
import { action } from "./action-fields.ts";

/** The agent is done and says so. */
export const FinishAction = action("FinishAction", {
  message: Type.String({
    description: "Last message to the user: what was done, what the result is, and what is left open.",
  }),
});
export type FinishAction = Static<typeof FinishAction>;

/** The agent thinks aloud; nothing else happens. */
export const ThinkAction = action("ThinkAction", {
  thought: Type.String({ description: "The thought to write down." }),
});
export type ThinkAction = Static<typeof ThinkAction>;

/** A call of a tool that an MCP server offers; the server checks its arguments. */
export const MCPToolAction = action("MCPToolAction", {
  data: Type.Optional(anyObject({ impliedDefault: {} })),
});
export type MCPToolAction = Static<typeof MCPToolAction>;
