import type { ControlGroups } from "./control-groups/control-groups.ts";
import type { SandboxWays } from "./sandbox-ways.ts";
import type { ConnectToolHost } from "./tool-host-link.ts";
import type { ToolHostProgram } from "./tool-host-program.ts";

/** What every backend works with that starts tool hosts on this machine. */
export type LocalBackendDeps = {
  /** Absolute; one directory per sandbox is made in it. */
  readonly sandboxesDir: string;
  /** Letters, digits and `-`; the same for every start of one installation and different for every other. */
  readonly installationId: string;
  readonly program: ToolHostProgram;
  /** The server's environment; only its allow-listed part reaches a sandbox. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly connect: ConnectToolHost;
  /** Used by backends that isolate; disposed of by their caller. */
  readonly ways: SandboxWays;
  /** Finds out how the processes of a sandbox can be limited together here; asked at the first start of bubblewrap. */
  readonly openControlGroups: () => Promise<ControlGroups>;
};
