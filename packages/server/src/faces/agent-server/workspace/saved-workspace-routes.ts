import type { AddWorkspaceParentsRequest, AddWorkspacesRequest } from "@convoke/protocol";
import type { RouteHandler } from "../../../http/mount.ts";
import type { SavedWorkspaces } from "../../../workspaces/saved-workspaces.ts";

export type SavedWorkspaceRouteDeps = { readonly savedWorkspaces: SavedWorkspaces };

/** Directories that a user wants to find again. Source: reference, agent-server 16.8. */
export function savedWorkspaceHandlers({ savedWorkspaces }: SavedWorkspaceRouteDeps) {
  return {
    listWorkspaces: async ({ caller }) => ({ json: await savedWorkspaces.list(caller.userId) }),
    addWorkspaces: async ({ caller, body }) => {
      await savedWorkspaces.addWorkspaces(caller.userId, (body as AddWorkspacesRequest).workspaces);
      return { json: await savedWorkspaces.list(caller.userId) };
    },
    deleteWorkspace: async ({ caller, query }) => ({
      json: { deleted: await savedWorkspaces.remove(caller.userId, "workspace", String(query["path"])) },
    }),
    addWorkspaceParents: async ({ caller, body }) => {
      await savedWorkspaces.addParents(caller.userId, (body as AddWorkspaceParentsRequest).parents);
      return { json: await savedWorkspaces.list(caller.userId) };
    },
    deleteWorkspaceParent: async ({ caller, query }) => ({
      json: { deleted: await savedWorkspaces.remove(caller.userId, "parent", String(query["path"])) },
    }),
  } satisfies Record<string, RouteHandler>;
}
