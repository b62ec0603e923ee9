import type { AddWorkspaceParentsRequest, AddWorkspacesRequest } from "@convoke/protocol";
import type { RouteHandler, RouteReply } from "../../../http/mount.ts";
import { Fault } from "../../../lib/fault.ts";
import type { SavedWorkspaces } from "../../../workspaces/saved-workspaces.ts";

export type SavedWorkspaceRouteDeps = { readonly savedWorkspaces: SavedWorkspaces };

/** Directories that a user has saved. */
export function savedWorkspaceHandlers({ savedWorkspaces }: SavedWorkspaceRouteDeps) {
  async function remove(userId: string, kind: "workspace" | "parent", path: unknown): Promise<RouteReply> {
    if (await savedWorkspaces.remove(userId, kind, String(path))) return { json: { deleted: true } };
    throw new Fault(
      "missing",
      "workspace_not_listed",
      `${String(path)} is not among the stored directories.`,
    );
  }

  return {
    listWorkspaces: async ({ caller }) => ({ json: await savedWorkspaces.list(caller.userId) }),
    addWorkspaces: async ({ caller, body }) => {
      await savedWorkspaces.addWorkspaces(caller.userId, (body as AddWorkspacesRequest).workspaces);
      return { json: await savedWorkspaces.list(caller.userId) };
    },
    deleteWorkspace: async ({ caller, query }) => await remove(caller.userId, "workspace", query["path"]),
    addWorkspaceParents: async ({ caller, body }) => {
      await savedWorkspaces.addParents(caller.userId, (body as AddWorkspaceParentsRequest).parents);
      return { json: await savedWorkspaces.list(caller.userId) };
    },
    deleteWorkspaceParent: async ({ caller, query }) => await remove(caller.userId, "parent", query["path"]),
  } satisfies Record<string, RouteHandler>;
}
