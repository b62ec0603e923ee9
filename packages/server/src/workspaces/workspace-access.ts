import type { Bash, ToolSecret, Workspace } from "@convoke/tool-host";

/** What a caller may reach of one machine, this one or a sandbox; the routes of files, git and commands know nothing else. */
export type WorkspaceAccess = {
  readonly workspace: Workspace;
  readonly bash: Bash;
  /** Absolute, on that machine; relative directories of commands are below it. */
  readonly workingDir: string;
  /** What no output may show. */
  readonly secrets: () => Promise<readonly ToolSecret[]>;
};

/** Finds the machine that a request means; `params` are those of its path. Throws a Fault for who may not reach it. */
export type OpenAccess = (
  caller: { readonly userId: string },
  params: Readonly<Record<string, string>>,
) => Promise<WorkspaceAccess>;
