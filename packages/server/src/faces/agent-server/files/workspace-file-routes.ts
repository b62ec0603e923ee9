import { posix } from "node:path";
import { WorkspaceError, type Workspace } from "@convoke/tool-host";
import type { workspaceRoutes } from "@convoke/protocol";
import { conversationIdOf, describeAsked } from "../../../http/asked-conversation.ts";
import { isLoopback } from "../../../http/guard.ts";
import type { RouteHandler, RouteReply, RouteRequest, Handlers } from "../../../http/mount.ts";
import { Fault } from "../../../lib/fault.ts";
import { contentTypeOf } from "../../../workspaces/content-type-of.ts";
import { isPageCapability, toPageUrl, withoutCapability } from "../../../workspaces/page-address.ts";
import { toFault } from "../../../workspaces/to-fault.ts";
import { workspaceCookie, workspaceSessionSeconds } from "../../../workspaces/workspace-session.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { sendFile } from "./file-download.ts";

/**
 * Pages of a workspace are untrusted and are served from the server's address: so they get an opaque origin, from which
 * they reach neither the server's routes nor its cookies.
 */
const pageHeaders = {
  "content-security-policy": "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts",
  "x-content-type-options": "nosniff",
  "cache-control": "no-cache",
  // The address of a page gives access to the files beside it.
  "referrer-policy": "no-referrer",
};

/** The files of a conversation for web pages. */
export function workspaceFileHandlers({ directory, sessions, openFiles }: FaceDeps) {
  const serve: RouteHandler = async (request) => {
    const id = conversationIdOf(request);
    refuseForeignPage(request);
    const { config } = await describeAsked(directory, request);
    await directory.requireFiles(id, config);
    const root = config.workspace.working_dir;
    try {
      const workspace = await openFiles(config, root);
      const { file, isDirectory } = await findBelow(workspace, root, request);
      const contentType = contentTypeOf(file);
      // A page is redirected to an address with a key, by which it can load its files: an opaque origin has no cookies.
      const { caller, headers: asked } = request;
      // A page of another site that asks for the text of it gets that.
      if (caller.means === "cookie" && asked["origin"] === undefined && contentType.startsWith("text/html")) {
        return sendTo(request, sessions.createPage(caller, id), isDirectory);
      }
      return await sendFile({ workspace, path: file, contentType, headers: headersFor(request) }, request);
    } catch (error) {
      throw toFault(error);
    }
  };
  return {
    createWorkspaceSession: ({ caller, request }) =>
      cookieReply(request, sessions.create(caller, pageOf(request)), workspaceSessionSeconds),
    deleteWorkspaceSession: ({ request }) => cookieReply(request, "", 0),
    serveWorkspaceRoot: serve,
    serveWorkspaceFile: serve,
  } satisfies Partial<Handlers<typeof workspaceRoutes>>;
}

/**
 * The guard admits every origin at a page's address, because the address is a key; but this request was not
 * authenticated by it.
 */
function refuseForeignPage({ caller, headers, request }: RouteRequest): void {
  if (caller.means === "page" || headers["origin"] === undefined || !isPageCapability(request.url)) return;
  const sentence = "The address of this page is over. Open the page again.";
  throw new Fault("refused", "forbidden", sentence);
}

/** The requested file; for a directory, its index page. */
async function findBelow(
  workspace: Workspace,
  root: string,
  request: RouteRequest,
): Promise<{ readonly file: string; readonly isDirectory: boolean }> {
  const asked = withoutCapability(request.params["file_path"] ?? "");
  if (asked.includes("\0")) throw new WorkspaceError("invalid-path", "A path may not hold NUL.");
  const path = posix.join(root, asked);
  if (path !== root && !path.startsWith(root.endsWith("/") ? root : `${root}/`)) {
    throw new WorkspaceError("outside-root", "The path leads out of the workspace.");
  }
  const { type } = await workspace.stat(path);
  if (type !== "directory") return { file: path, isDirectory: false };
  const file = posix.join(path, "index.html");
  await workspace.stat(file);
  return { file, isDirectory: true };
}

function sendTo({ request }: RouteRequest, capability: string, isDirectory: boolean): RouteReply {
  const base = new URL(request.publicAddress).pathname.replace(/\/$/, "");
  const location = toPageUrl(base, request.url, capability, isDirectory);
  return { status: 302, headers: { ...pageHeaders, "cache-control": "no-store", location }, text: "" };
}

/** Scripts and fonts of a page are requested with an opaque origin. */
function headersFor({ caller, headers }: RouteRequest): Record<string, string> {
  if (caller.means !== "page" || typeof headers["origin"] !== "string") return pageHeaders;
  return { ...pageHeaders, "access-control-allow-origin": headers["origin"], vary: "Origin" };
}

/** The requesting page; frames with an opaque origin are not identified. */
function pageOf({ headers }: RouteRequest["request"]): string | undefined {
  return headers.origin?.startsWith("http") === true ? headers.origin : undefined;
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
