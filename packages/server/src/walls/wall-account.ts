import { readFile, stat } from "node:fs/promises";
import type { Account } from "../sandboxes/sandbox-directory.ts";

/** The user of a wall, outside and inside. */
export type WallAccount = {
  /** Whom root has to become; null keeps the user of this process. */
  readonly become: Account | null;
  /** Shown inside. */
  readonly shown: Account;
  readonly name: string;
  /** Absolute path of the home, the same inside and outside. */
  readonly home: string;
  /** The process is root without any capability, because the working folder is root's. */
  readonly isRoot: boolean;
};

export type AccountDeps = {
  readonly self: Account;
  /** `HOME` of the server; null when there is none. */
  readonly home: string | null;
  /** Lines as in /etc/passwd. */
  readonly readUsers?: () => Promise<string>;
};

/** Inside, root is shown as this user: some programs refuse root, others do more than they should. */
const rootShownAs: Account = { uid: 1000, gid: 1000 };

/**
 * The owner of the working folder, when the server is root; otherwise its own user. Root's own folders can be written by root alone, so
 * for them the process stays root, without capabilities.
 */
export async function chooseWallAccount(folder: string, deps: AccountDeps): Promise<WallAccount> {
  const { self, home, readUsers = () => readFile("/etc/passwd", "utf8") } = deps;
  const owner = self.uid === 0 ? await stat(folder) : self;
  const user = findUser(await readUsers().catch(() => ""), owner.uid);
  if (self.uid !== 0 || owner.uid === 0) {
    const isRoot = owner.uid === 0;
    return {
      become: null,
      shown: isRoot ? rootShownAs : self,
      name: isRoot ? "agent" : (user?.name ?? "agent"),
      home: home ?? user?.home ?? otherHome,
      isRoot,
    };
  }
  const account = { uid: owner.uid, gid: owner.gid };
  return {
    become: account,
    shown: account,
    name: user?.name ?? "agent",
    home: user?.home ?? otherHome,
    isRoot: false,
  };
}

const otherHome = "/home/agent";

/** Users of services have homes such as `/` or `/nonexistent`. */
function findUser(
  lines: string,
  uid: number,
): { readonly name: string; readonly home: string | null } | null {
  for (const line of lines.split("\n")) {
    const [name = "", , id, , , home = ""] = line.split(":");
    if (id !== String(uid) || name === "") continue;
    return { name, home: /^\/(home|root|Users|var\/home)(\/|$)/.test(home) ? home : null };
  }
  return null;
}
