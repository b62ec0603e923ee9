import { randomBytes } from "node:crypto";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { afterAll, beforeAll } from "vitest";
import type { ApplicationDatabase } from "../database/application-database.ts";
import { createSecretBox } from "../security/seal.ts";
import { openTestDatabase, testedStore } from "../testing/test-database.ts";
import { describeAutomationStore } from "./contract.ts";
import { AutomationStore } from "./automation-store.ts";

const secretBox = createSecretBox(randomBytes(32));
const opened = new AsyncDisposableStack();
let openDatabase: () => Promise<ApplicationDatabase>;

beforeAll(async () => {
  const folder = opened.use(await openTemporaryDirectory());
  const open = async (): Promise<ApplicationDatabase> => opened.use(await openTestDatabase(folder.path));
  // Two connections of one process to one SQLite file would wait for each other.
  const shared = testedStore === "sqlite" ? await open() : null;
  openDatabase = async () => shared ?? (await open());
});
afterAll(() => opened.disposeAsync());

describeAutomationStore(
  testedStore,
  async () =>
    new AutomationStore({
      database: await openDatabase(),
      secretBox,
      clock: { nowMs: () => 1_000 },
    }),
);
