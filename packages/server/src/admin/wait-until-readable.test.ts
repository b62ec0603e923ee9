import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { describeStorageFault } from "../lib/storage-fault.ts";
import { waitUntilReadable } from "./wait-until-readable.ts";

test("issue 26: who waits for a locked store is told what for, and no longer than it wants", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-wait-"));
  const path = join(folder.path, "journal.db");
  const reports: string[] = [];
  const onWait = (file: string): void => {
    reports.push(file);
    holder.exec("COMMIT");
  };
  await waitUntilReadable(path, { timeoutMs: 0, onWait });
  using holder = new DatabaseSync(path);
  holder.exec("CREATE TABLE t (a); BEGIN EXCLUSIVE");
  const error = await waitUntilReadable(path, { timeoutMs: 0, onWait }).catch((reason: unknown) => reason);
  expect(describeStorageFault(error)).toContain(`${path} is locked by another process`);
  await waitUntilReadable(path, { timeoutMs: 60_000, onWait });
  expect(reports).toEqual([path]);
  await waitUntilReadable(path, { timeoutMs: 0, onWait });
});
