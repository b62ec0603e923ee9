import type { OpenApiOptions } from "./openapi.ts";

/** The agent-server face, which reports the contract's name and version. */
export const agentServerInterface: OpenApiOptions = { title: "agent server", version: "0.1.0" };

/** The app-server face; the contract gives it no version, the reference this one. */
export const appServerInterface: OpenApiOptions = { title: "app server", version: "0.0.1" };
