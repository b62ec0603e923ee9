import { Type, type Static } from "typebox";
import { flag, object, orAbsent, ref } from "../schema.ts";

const path = Type.String({ minLength: 1, maxLength: 4096 });
const fields = { id: path, name: Type.String({ minLength: 1, maxLength: 256 }), path };

/** A directory that a user has stored. */
export const WorkspaceItem = object("WorkspaceItem", {
  ...fields,
  parentPath: orAbsent(Type.String({ maxLength: 4096 })),
});
export type WorkspaceItem = Static<typeof WorkspaceItem>;

/** A directory that contains a user's workspaces. */
export const WorkspaceParentItem = object("WorkspaceParentItem", fields);
export type WorkspaceParentItem = Static<typeof WorkspaceParentItem>;

export const WorkspacesListResponse = object("WorkspacesListResponse", {
  workspaces: Type.Optional(Type.Array(ref(WorkspaceItem))),
  workspaceParents: Type.Optional(Type.Array(ref(WorkspaceParentItem))),
});
export type WorkspacesListResponse = Static<typeof WorkspacesListResponse>;

export const AddWorkspacesRequest = object("AddWorkspacesRequest", {
  workspaces: Type.Array(ref(WorkspaceItem)),
});
export type AddWorkspacesRequest = Static<typeof AddWorkspacesRequest>;

export const AddWorkspaceParentsRequest = object("AddWorkspaceParentsRequest", {
  parents: Type.Array(ref(WorkspaceParentItem)),
});
export type AddWorkspaceParentsRequest = Static<typeof AddWorkspaceParentsRequest>;

export const DeleteResponse = object("DeleteResponse", { deleted: flag(true) });
export type DeleteResponse = Static<typeof DeleteResponse>;
