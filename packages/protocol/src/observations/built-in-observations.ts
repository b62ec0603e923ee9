import { Type, type Static } from "typebox";
import { observation } from "./observation-fields.ts";

export const FinishObservation = observation("FinishObservation", {});
export type FinishObservation = Static<typeof FinishObservation>;

export const ThinkObservation = observation("ThinkObservation", {});
export type ThinkObservation = Static<typeof ThinkObservation>;

/** The result of a tool of an MCP server. */
export const MCPToolObservation = observation("MCPToolObservation", { tool_name: Type.String() });
export type MCPToolObservation = Static<typeof MCPToolObservation>;
