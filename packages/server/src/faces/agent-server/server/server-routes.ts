import type { agentServerRoutes } from "@convoke/protocol";
import { readHealth } from "../../../http/health.ts";
import type { RouteHandler, Handlers } from "../../../http/mount.ts";
import { serverInfo } from "../../../http/server-info.ts";
import { oracleToolName, workflowToolSet } from "../../../agent/tool-specs.ts";
import { taskToolSet } from "../../../settings/with-defaults.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** Health, identity and catalogue. */
export function serverHandlers(deps: FaceDeps) {
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
  } satisfies Partial<Handlers<typeof agentServerRoutes>>;
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
