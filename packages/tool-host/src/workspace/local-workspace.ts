import type { Workspace } from "./workspace.ts";
export type LocalWorkspaceDeps = {
  readonly root?: string;
  readonly environment: Readonly<Record<string, string>>;
};
export function createLocalWorkspace(deps: LocalWorkspaceDeps): Workspace {
  return deps as unknown as Workspace;
}
