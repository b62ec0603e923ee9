import type { RouteReply, RouteRequest } from "../../../http/mount.ts";
import { toFault } from "../../../workspaces/to-fault.ts";
import type { OpenAccess, WorkspaceAccess } from "../../../workspaces/workspace-access.ts";

/** Handles requests for one machine; its refusals are sent as Faults. */
export function onMachine<Request extends RouteRequest>(
  openAccess: OpenAccess,
  handle: (access: WorkspaceAccess, request: Request) => Promise<RouteReply>,
): (request: Request) => Promise<RouteReply> {
  return async (request) => {
    try {
      return await handle(await openAccess(request.caller, request.params), request);
    } catch (error) {
      throw toFault(error);
    }
  };
}

/** The path that a request names, in its query or as the rest of its own path, where the first slash may be lost. */
export function pathOf({ query, params }: RouteRequest): string {
  const inQuery = query["path"];
  if (typeof inQuery === "string") return inQuery;
  const inPath = params["path"] ?? "";
  return inPath.startsWith("/") ? inPath : `/${inPath}`;
}
