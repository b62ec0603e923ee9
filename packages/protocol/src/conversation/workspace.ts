import { Type, type Static } from "typebox";
import { inputOfKind, orNull, outputOfKind, unionByKind } from "../schema.ts";

const local = { working_dir: Type.String({ description: "Directory that the agent works in." }) };
const remote = {
  ...local,
  host: Type.String(),
  api_key: orNull(Type.String()),
  read_timeout: Type.Optional(Type.Number({ default: 600, description: "Seconds." })),
  max_connections: orNull(Type.Integer()),
};

/** A directory on the machine of the server or of its tool host. */
export const LocalWorkspace = outputOfKind("LocalWorkspace", local);
export type LocalWorkspace = Static<typeof LocalWorkspace>;
export const LocalWorkspaceInput = inputOfKind("LocalWorkspace", local);
export type LocalWorkspaceInput = Static<typeof LocalWorkspaceInput>;

/** A directory behind another agent server. */
export const RemoteWorkspace = outputOfKind("RemoteWorkspace", remote);
export type RemoteWorkspace = Static<typeof RemoteWorkspace>;
export const RemoteWorkspaceInput = inputOfKind("RemoteWorkspace", remote);
export type RemoteWorkspaceInput = Static<typeof RemoteWorkspaceInput>;

/** Where an agent works. */
export const Workspace = unionByKind("BaseWorkspace-Output", {
  "openhands__sdk__workspace__local__LocalWorkspace-Output__1": LocalWorkspace,
  "openhands__sdk__workspace__remote__base__RemoteWorkspace-Output__1": RemoteWorkspace,
});
export type Workspace = Static<typeof Workspace>;

export const WorkspaceInput = unionByKind("BaseWorkspace-Input", {
  "openhands__sdk__workspace__local__LocalWorkspace-Input__1": LocalWorkspaceInput,
  "openhands__sdk__workspace__remote__base__RemoteWorkspace-Input__1": RemoteWorkspaceInput,
});
export type WorkspaceInput = Static<typeof WorkspaceInput>;
