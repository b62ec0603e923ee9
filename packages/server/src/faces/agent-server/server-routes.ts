import type { ToolHost } from "@convoke/tool-host";
import type { RouteHandler } from "../../http/mount.ts";
import { taskToolSet } from "../../settings/with-defaults.ts";

export type ServerRouteDeps = {
  readonly toolHost: ToolHost;
  readonly nowMs: () => number;
  /** Epoch milliseconds of the last call to an `/api` route. */
  readonly lastActivityMs: () => number;
  readonly isReady: () => boolean;
  readonly serverVersion: string;
};

/** Health, identity and catalogue. Source: reference, agent-server 17 and 18. */
export function serverHandlers(deps: ServerRouteDeps) {
  const startedMs = deps.nowMs();
  const info: RouteHandler = () => ({
    json: {
      uptime: Math.floor((deps.nowMs() - startedMs) / 1000),
      idle_time: Math.floor((deps.nowMs() - deps.lastActivityMs()) / 1000),
      title: "Convoke agent server",
      version: agentServerVersion,
      server_version: deps.serverVersion,
      docs: "/docs",
      redoc: "/docs",
    },
  });
  return {
    isAlive: () => ({ json: { status: "ok" } }),
    getHealth: () => ({ json: "OK" }),
    isReady: () =>
      deps.isReady() ? { json: { status: "ready" } } : { status: 503, json: { status: "initializing" } },
    getServerInfo: info,
    getRoot: info,
    listTools: () => ({
      json: [...deps.toolHost.catalogue.filter((name) => !builtIn.has(name)), taskToolSet].sort(),
    }),
  } satisfies Record<string, RouteHandler>;
}

/** Every agent has these unless it says otherwise; they are not asked for by name. Source: reference, tools 1.2. */
const builtIn = new Set(["finish", "think"]);

/**
 * The newest agent server whose routes are served: clients refuse to use workspaces, hooks and MCP below 1.23. The interface itself
 * is 0.1.0, as its OpenAPI document says.
 */
const agentServerVersion = "1.43.0";
