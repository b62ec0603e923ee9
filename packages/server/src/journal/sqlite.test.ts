import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { describeJournal } from "./contract.ts";
import { openJournal } from "./open-journal.ts";
import { openSqliteJournal } from "./sqlite.ts";

const folder = mkdtempSync(join(tmpdir(), "convoke-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeJournal("sqlite", () => openJournal({ memory: true }));
describeJournal("sqlite, each event moved to its log at once", () =>
  openSqliteJournal(join(folder, "settling"), 1),
);
describeJournal("sqlite, in rounds of a few events", () => openSqliteJournal(join(folder, "rounds"), 50));
