import type { OpenApiOptions } from "./openapi.ts";

/** The agent-server face, which reports the contract's name and version. */
export const agentServerInterface: OpenApiOptions = { title: "agent server", version: "0.1.0" };
