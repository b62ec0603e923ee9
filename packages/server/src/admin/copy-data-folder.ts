import { open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { FolderCopy } from "../database/folder-copy.ts";
import { unfinishedBackup } from "../journal/open-journal.ts";
import { textsFile } from "../journal/sqlite/texts/tables.ts";
import { isHeadsFile } from "../observability/audit-place.ts";
import { sandboxesLock } from "../sandboxes/sqlite-sandbox-store.ts";
import { emptyFolder } from "./prepare-target.ts";

export type CopyDataFolderDeps = {
  readonly from: string;
  /** An empty folder. */
  readonly target: string;
  /** Whether the target was made for this copy. */
  readonly isNew: boolean;
  /** Whether damaged databases are copied as they lie there; otherwise one ends the copy. */
  readonly takesDamaged: boolean;
  /** Called with each copied file, relative to the data folder. */
  readonly onProgress: (file: string) => void;
  /** Runs on the whole copy, before it counts as finished. */
  readonly finish: () => Promise<void>;
};

export type CopiedFolder = {
  readonly files: number;
  /** Files in sandboxes that this user cannot read, relative to the data folder. */
  readonly leftOut: readonly string[];
};

/**
 * Copies a data folder, also while servers use it, so that a server can start from the copy. Each database is copied as
 * of one moment. The order matters: data that points into the log (webhook cursors, spending) is copied before the log,
 * and the records of executions after it, so that no tool starts twice. The text index is not copied but rebuilt. After
 * a failure nothing of the copy is left.
 */
export async function copyDataFolder({
  from,
  target,
  isNew,
  takesDamaged,
  onProgress,
  finish,
}: CopyDataFolderDeps): Promise<CopiedFolder> {
  const unfinished = join(target, unfinishedBackup);
  try {
    await writeFile(unfinished, "This copy is incomplete. Make another.\n", { mode: 0o600 });
    const copy = new FolderCopy({ from, to: target, onProgress, isFirst: isAuditHeads, takesDamaged });
    const entries = (await copy.list()).filter((name) => !ofThisMoment.has(name));
    for (const name of entries.filter((name) => name !== journal && !isOfTools(name))) await copy.take(name);
    if (entries.includes(journal)) await copy.take(journal);
    for (const name of entries.filter(isOfTools)) await copy.take(name);
    await finish();
    await syncFolder(target);
    await rm(unfinished);
    await syncFolder(target);
    return { files: copy.count, leftOut: copy.leftOut };
  } catch (error) {
    // On a failing disk this may fail too. The rest is marked as unfinished, and the next copy removes it.
    await (isNew ? rm(target, { recursive: true, force: true }) : emptyFolder(target)).catch(() => {});
    throw error;
  }
}

const journal = "journal.db";

/** Records of running processes, and what the server rebuilds. */
const ofThisMoment: ReadonlySet<string> = new Set([
  "nodes",
  "running",
  "in-use.lock",
  // Private homes of walls have caches of tools, and are made again.
  "walls",
  sandboxesLock,
  unfinishedBackup,
  textsFile,
]);

/** Before the lines: those that are written meanwhile are then too many for the heads, and none are missing. */
function isAuditHeads(name: string): boolean {
  return name.startsWith("audit/") && isHeadsFile(name.slice("audit/".length));
}

/** Temporary files of running tools. */
function isOfTools(name: string): boolean {
  return (
    name === "conversations" || name === "sandboxes" || name === "bash.sqlite" || name === "sandboxes.sqlite"
  );
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder);
  await handle.sync();
}
