import { randomUUID } from "node:crypto";
import { mkdir, rename, rmdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf, createFile, replaceFile } from "../file-editor/atomic-write.ts";
import type { Change } from "./plan-changes.ts";

type Undo = () => Promise<void>;

/** Makes all changes or none: when one fails, the earlier ones are undone and the failure is thrown. */
export async function makeChanges(changes: readonly Change[]): Promise<void> {
  const undo: Undo[] = [];
  const finish: Undo[] = [];
  try {
    for (const change of changes) await make(change, undo, finish);
  } catch (error) {
    for (const step of undo.toReversed()) await step();
    throw error;
  }
  for (const step of finish) await step();
}

async function make(change: Change, undo: Undo[], finish: Undo[]): Promise<void> {
  const { type, from, to, oldBytes, newBytes } = change;
  if (type === "add") {
    await makeDirectory(dirname(from), undo);
    await createFile(from, newBytes!);
    undo.push(() => unlink(from));
  } else if (type === "delete") {
    // Moved aside until all other changes are made.
    const aside = join(dirname(from), `.convoke-${randomUUID()}.tmp`);
    await rename(from, aside);
    undo.push(() => rename(aside, from));
    finish.push(() => unlink(aside));
  } else {
    if (to !== from) {
      await makeDirectory(dirname(to), undo);
      await rename(from, to);
      undo.push(() => rename(to, from));
    }
    if (newBytes === null || oldBytes === null) return;
    await replaceFile(to, newBytes);
    undo.push(() => replaceFile(to, oldBytes));
  }
}

/** Creates parent directories too; new ones are removed when the patch fails. */
async function makeDirectory(path: string, undo: Undo[]): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let made = first, rest = path.slice(first.length).split("/").filter(Boolean); ;) {
    const directory = made;
    undo.push(() => removeEmpty(directory));
    const next = rest.shift();
    if (next === undefined) return;
    made = join(made, next);
  }
}

async function removeEmpty(directory: string): Promise<void> {
  try {
    await rmdir(directory);
  } catch (error) {
    // Another process has created something there meanwhile.
    if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(codeOf(error))) throw error;
  }
}
