import type { ServerInfo } from "@convoke/protocol";
import { version } from "../lib/version.ts";

export type ServerInfoParts = {
  /** Seconds. */
  readonly uptime: number;
  /** Seconds since the last call to an `/api` route. */
  readonly idleTime: number;
  /** Tools that agents can request by name. */
  readonly tools: readonly string[];
};

/** The facts about a server, also before it has its configuration. */
export function serverInfo({ uptime, idleTime, tools }: ServerInfoParts): ServerInfo {
  return {
    uptime,
    idle_time: idleTime,
    title: "Convoke agent server",
    version: agentServerVersion,
    sdk_version: agentServerVersion,
    tools_version: agentServerVersion,
    workspace_version: agentServerVersion,
    server_version: version,
    usable_tools: [...tools],
    runtime_idle_timeout_seconds: null,
    conversation_runtime: "local",
    available_conversation_runtimes: [],
    capabilities: [...capabilities],
    docs: "/docs",
    redoc: "/docs",
  };
}

/**
 * The newest agent server whose routes are served, but for those that `docs/compatibility.md` lists; clients compare it before they use
 * what came late. The interface itself is 0.1.0, as its OpenAPI document says.
 */
const agentServerVersion = "1.58.2";

/** The names of optional features that newer clients check; only those that this server has. */
const capabilities = [
  "conversation_runtime_routes_v1",
  "idempotent_conversation_create_v1",
  "tool_catalog_v1",
  "skill_catalog_v1",
];
