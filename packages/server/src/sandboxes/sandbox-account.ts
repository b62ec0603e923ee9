import { stat } from "node:fs/promises";
import type { Account } from "./sandbox-directory.ts";
import { ifThere } from "../lib/if-there.ts";

export type SandboxAccounts = {
  /** The user of this process, from the kernel. */
  readonly self: Account;
  /** Who sandboxes run as when this process is root and the workspace's owner is root too. */
  readonly unprivileged: Account;
};

/** Never root: the workspace's owner when that is somebody else, so that what the agent makes is theirs. */
export async function chooseAccount(
  workspaceDir: string,
  { self, unprivileged }: SandboxAccounts,
): Promise<Account> {
  if (self.uid !== 0) return self;
  const { uid, gid } = await ifThere(stat(workspaceDir), unprivileged);
  return uid === 0 ? unprivileged : { uid, gid };
}

/** The owner of the sandbox's own files: only root can give files away. */
export function ownerOf(account: Account, { self }: SandboxAccounts): Account | undefined {
  return self.uid === 0 ? account : undefined;
}
