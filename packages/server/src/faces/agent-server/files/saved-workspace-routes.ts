import type { workspaceRoutes } from "@convoke/protocol";
import type { RouteReply, Handlers } from "../../../http/mount.ts";
import { Fault } from "../../../lib/fault.ts";
import type { FaceDeps } from "../../face-deps.ts";

/** Directories that a user has saved. */
export function savedWorkspaceHandlers({ savedWorkspaces }: FaceDeps) {
  async function remove(userId: string, kind: "workspace" | "parent", path: string): Promise<RouteReply> {
    if (await savedWorkspaces.remove(userId, kind, path)) return { json: { deleted: true } };
    throw new Fault("missing", "workspace_not_listed", `${path} is not among the stored directories.`);
  }

  return {
    listWorkspaces: async ({ caller }) => ({ json: await savedWorkspaces.list(caller.userId) }),
    addWorkspaces: async ({ caller, body }) => {
      await savedWorkspaces.addWorkspaces(caller.userId, body.workspaces);
      return { json: await savedWorkspaces.list(caller.userId) };
    },
    deleteWorkspace: async ({ caller, query }) => await remove(caller.userId, "workspace", query.path),
    addWorkspaceParents: async ({ caller, body }) => {
      await savedWorkspaces.addParents(caller.userId, body.parents);
      return { json: await savedWorkspaces.list(caller.userId) };
    },
    deleteWorkspaceParent: async ({ caller, query }) => await remove(caller.userId, "parent", query.path),
  } satisfies Partial<Handlers<typeof workspaceRoutes>>;
}
