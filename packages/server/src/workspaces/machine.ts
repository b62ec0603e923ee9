import { join } from "node:path";
import {
  createLocalWorkspace,
  hideFolder,
  openLocalBash,
  type Bash,
  type ToolSecret,
  type Workspace,
} from "@convoke/tool-host";
import { Fault } from "../lib/fault.ts";
import type { OpenAccess } from "./workspace-access.ts";

/** A bound one has hosts: its value is for these, and not for tools. */
export type UserSecret = { readonly value: string; readonly hosts?: readonly string[] | null };

/** The secrets of users, by name. */
export interface UserSecrets {
  values(userId: string): Promise<Readonly<Record<string, UserSecret>>>;
}

export type MachineDeps = {
  /** The allow-listed environment that commands and git start with. */
  readonly environment: Readonly<Record<string, string>>;
  readonly dataDir: string;
  readonly workspaceRoot: string;
  /** Users who may reach this machine's files and run commands on it; `*` is everybody. */
  readonly users: readonly string[];
  /** Outputs of commands are dropped after this time; null: only when room is needed. */
  readonly bashTtlMs: number | null;
  /** The server's own keys: no output shows them. */
  readonly ownKeys: readonly string[];
  readonly secrets: UserSecrets;
};

/** The machine that the server runs on. Everything is opened on first use. */
export class Machine implements AsyncDisposable {
  readonly #deps: MachineDeps;
  /** What no route serves: the data folder with the server's keys. */
  readonly #hidden: ReturnType<typeof hideFolder>;
  readonly #workspace: Workspace;
  #bash: Bash | undefined;
  #isClosed = false;

  constructor(deps: MachineDeps) {
    this.#deps = deps;
    const { dataDir, workspaceRoot } = deps;
    // Worktrees of conversations and the projects of the page's demo stand there, and the workspace may.
    const ofConversation = join(dataDir, "conversations", "*");
    const wallWorktrees = join(ofConversation, "wall", "worktrees");
    const shown = [join(dataDir, "worktrees"), wallWorktrees, join(ofConversation, "project"), workspaceRoot];
    this.#hidden = hideFolder({ folder: dataDir, shown });
    this.#workspace = createLocalWorkspace({ environment: deps.environment, hidden: this.#hidden });
  }

  /** For those of `users` only. */
  readonly openAccess: OpenAccess = async ({ userId }) => {
    const { users, workspaceRoot } = this.#deps;
    if (!users.includes(userId) && !users.includes("*")) {
      throw new Fault(
        "refused",
        "machine_refused",
        "Your key may not use the files and the shell of the server's machine. The server's operator can allow it.",
      );
    }
    return {
      workspace: this.#workspace,
      bash: this.#openBash(),
      workingDir: workspaceRoot,
      secrets: () => this.#secrets(userId),
    };
  };

  /** The files in one directory of this machine; links that lead out of it are refused. */
  openDirectory(root: string): Workspace {
    return createLocalWorkspace({ root, environment: this.#deps.environment, hidden: this.#hidden });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#bash?.[Symbol.asyncDispose]();
  }

  #openBash(): Bash {
    if (this.#isClosed) throw new Fault("not-now", "server_closing", "The server is shutting down.");
    const { dataDir, environment, bashTtlMs } = this.#deps;
    return (this.#bash ??= openLocalBash({
      path: join(dataDir, "bash.sqlite"),
      environment,
      ttlMs: bashTtlMs,
    }));
  }

  async #secrets(userId: string): Promise<ToolSecret[]> {
    const own = Object.entries(await this.#deps.secrets.values(userId)).map(([name, { value }]) => ({
      name,
      value,
    }));
    return [...own, ...this.#deps.ownKeys.map((value) => ({ name: "SESSION_API_KEY", value }))];
  }
}
