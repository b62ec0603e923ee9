import { posix } from "node:path";
import { WorkspaceError, type Workspace } from "@convoke/tool-host";
import { conversationMissing } from "../../../conversation/refusals.ts";
import type { Directory } from "../../../conversation/directory.ts";
import type { ConversationConfig } from "../../../conversation/conversation-config.ts";
import { isLoopback } from "../../../http/guard.ts";
import type { RouteHandler, RouteReply, RouteRequest } from "../../../http/mount.ts";
import { contentTypeOf } from "../../../workspaces/content-type-of.ts";
import { toFault } from "../../../workspaces/to-fault.ts";
import {
  workspaceCookie,
  workspaceSessionSeconds,
  type WorkspaceSessions,
} from "../../../workspaces/workspace-session.ts";
import { conversationIdOf } from "../event-routes.ts";
import { sendFile } from "./file-download.ts";

export type WorkspaceFileRouteDeps = {
  readonly directory: Pick<Directory, "describe">;
  readonly sessions: WorkspaceSessions;
  /** The files of a conversation's machine; `root` is the directory that must not be left. */
  readonly openFiles: (config: ConversationConfig, root: string) => Promise<Workspace>;
};

/**
 * Pages of a workspace are the agent's work, and they come from the server's own origin: so they run in an origin of their own,
 * where they reach neither the server's routes nor its cookies.
 */
const pageHeaders = {
  "content-security-policy": "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts",
  "x-content-type-options": "nosniff",
  "cache-control": "no-cache",
};

/** The files of a conversation for web pages. Source: reference, agent-server 14. */
export function workspaceFileHandlers({ directory, sessions, openFiles }: WorkspaceFileRouteDeps) {
  const serve: RouteHandler = async (request) => {
    const id = conversationIdOf(request);
    const described = await directory.describe(request.caller, id);
    if (described === null) throw conversationMissing(id);
    const { config } = described;
    const root = config.workspace.working_dir;
    try {
      return await serveBelow(await openFiles(config, root), root, request);
    } catch (error) {
      throw toFault(error);
    }
  };
  return {
    createWorkspaceSession: ({ caller, request }) =>
      cookieReply(request, sessions.create(caller), workspaceSessionSeconds),
    deleteWorkspaceSession: ({ request }) => cookieReply(request, "", 0),
    serveWorkspaceRoot: serve,
    serveWorkspaceFile: serve,
  } satisfies Record<string, RouteHandler>;
}

async function serveBelow(workspace: Workspace, root: string, request: RouteRequest): Promise<RouteReply> {
  const asked = request.params["file_path"] ?? "";
  if (asked.includes("\0")) throw new WorkspaceError("invalid-path", "A path may not hold NUL.");
  const path = posix.join(root, asked);
  if (path !== root && !path.startsWith(root.endsWith("/") ? root : `${root}/`)) {
    throw new WorkspaceError("outside-root", "The path leads out of the workspace.");
  }
  const { type } = await workspace.stat(path);
  const file = type === "directory" ? posix.join(path, "index.html") : path;
  return sendFile({ workspace, path: file, contentType: contentTypeOf(file), headers: pageHeaders }, request);
}

/** Pages of other sites may show the files in a frame, which needs a secure connection; without one, only our own may. */
function cookieReply(request: RouteRequest["request"], value: string, seconds: number): RouteReply {
  const isSecure = request.protocol === "https" || isLoopback(request.hostname);
  const reach = isSecure ? "SameSite=None; Secure; Partitioned" : "SameSite=Lax";
  const [url = ""] = request.url.split("?", 1);
  // Below the same address as this route, wherever that is.
  const path = url.replace(/\/auth\/workspace-session\/?$/, "/conversations");
  const cookie = `${workspaceCookie}=${value}; HttpOnly; Max-Age=${seconds}; Path=${path}; ${reach}`;
  return { status: 204, headers: { "set-cookie": cookie }, text: "" };
}
