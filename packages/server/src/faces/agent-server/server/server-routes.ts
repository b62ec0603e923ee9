import type { ToolHost } from "@convoke/tool-host";
import { readHealth } from "../../../http/health.ts";
import type { RouteHandler } from "../../../http/mount.ts";
import { serverInfo } from "../../../http/server-info.ts";
import { oracleToolName, workflowToolSet } from "../../../agent/tool-specs.ts";
import { taskToolSet } from "../../../settings/with-defaults.ts";
import type { Clock } from "../../../lib/clock.ts";

export type ServerRouteDeps = {
  readonly toolHost: ToolHost;
  readonly clock: Clock;
  /** Epoch milliseconds of the last call to an `/api` route. */
  readonly lastActivityMs: () => number;
  readonly isReady: () => boolean;
};

/** Health, identity and catalogue. */
export function serverHandlers(deps: ServerRouteDeps) {
  const startedMs = deps.clock.nowMs();
  const tools = selectableTools(deps.toolHost.catalogue);
  const info: RouteHandler = () => ({
    json: serverInfo({
      uptime: Math.floor((deps.clock.nowMs() - startedMs) / 1000),
      idleTime: Math.floor((deps.clock.nowMs() - deps.lastActivityMs()) / 1000),
      tools,
    }),
  });
  const health: RouteHandler = ({ headers }) => {
    const { contentType, text } = readHealth(headers);
    return { bytes: new TextEncoder().encode(text), contentType };
  };
  return {
    isAlive: health,
    getHealth: health,
    isReady: () =>
      deps.isReady() ? { json: { status: "ready" } } : { status: 503, json: { status: "initializing" } },
    getServerInfo: info,
    getRoot: info,
    listTools: () => ({ json: tools }),
  } satisfies Record<string, RouteHandler>;
}

/** The tools that agents can request by name, sorted. */
export function selectableTools(catalogue: readonly string[]): string[] {
  return [
    ...catalogue.filter((name) => !builtIn.has(name)),
    taskToolSet,
    oracleToolName,
    workflowToolSet,
  ].sort();
}

/** Every agent has these tools by default; they are not requested by name. */
const builtIn = new Set(["finish", "think"]);
