import type { OpenApiOptions } from "./openapi.ts";

/** The agent-server face, with the contract's name and version. */
export const agentServerInterface: OpenApiOptions = { title: "agent server", version: "0.1.0" };

/** The app-server face; its version is the reference's, because the contract has none. */
export const appServerInterface: OpenApiOptions = { title: "app server", version: "0.0.1" };
