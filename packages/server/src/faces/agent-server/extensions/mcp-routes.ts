import { maskText } from "@convoke/tool-host";
import type { mcpRoutes } from "@convoke/protocol";
import { hiddenValues } from "../../../extensions/mcp/hidden-values.ts";
import { LoginJobs } from "../../../extensions/mcp/login-jobs.ts";
import type { OpenClientDeps, OwnLogins } from "../../../extensions/mcp/open-client.ts";
import { tryServer, type TriedServer } from "../../../extensions/mcp/try-server.ts";
import type { Handlers } from "../../../http/mount.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { conversationMcpHandlers } from "./conversation-mcp-routes.ts";
import { mcpLoginHandlers } from "./mcp-login-routes.ts";
import { readTestRequest } from "./mcp-test-request.ts";
import { version } from "../../../lib/version.ts";

/** Tests of MCP servers and logins to them, before a conversation uses them. */
export function mcpHandlers(deps: FaceDeps) {
  const { toolHost, filteredFetch, sealedValues, mcpLogins: logins, clock, cluster } = deps;
  const clientDeps = {
    toolHost,
    workspaceDir: deps.workspaceRoot,
    fetch: filteredFetch,
    clientVersion: version,
  };
  const loginJobs = new LoginJobs({ ...clientDeps, logins, cluster, clock });
  return {
    testMcpServer: async ({ body, caller, signal }) => {
      const { server, config, ...options } = readTestRequest(
        sealedValues.openIn(caller.userId, body, ["body"]),
      );
      const hidden = new Set(hiddenValues(config));
      const ownLogins: OwnLogins = { open: (url, configured) => logins.open(caller.userId, url, configured) };
      const attempt = async (place: Partial<OpenClientDeps>): Promise<TriedServer> => {
        const all = { ...clientDeps, ...place, ownLogins, tokens: hidden };
        return await tryServer(server, all, { ...options, signal });
      };
      // A program runs where a conversation would start it.
      const tried =
        server.transport === "stdio"
          ? await deps.hosts.inPassing(caller.userId, async ({ toolHost: host, folder, isWalled }) => {
              const found = await attempt({ toolHost: host, workspaceDir: folder });
              return isWalled ? sayWhatShows(found, folder) : found;
            })
          : await attempt({});
      const secrets = Array.from(hidden, (value) => ({ name: "", value }));
      return { json: JSON.parse(maskText(JSON.stringify(tried), secrets)) as unknown };
    },
    ...conversationMcpHandlers(deps),
    ...mcpLoginHandlers(deps, loginJobs),
  } satisfies Handlers<typeof mcpRoutes>;
}

/** A program that is not there for the wall is the most frequent reason why one does not start. */
function sayWhatShows(tried: TriedServer, folder: string): TriedServer {
  if (tried.ok || tried.error_kind !== "connection") return tried;
  const hint = `It was started behind a wall, which shows ${folder} and the machine's programs only.`;
  return { ...tried, error: `${tried.error} ${hint}` };
}
