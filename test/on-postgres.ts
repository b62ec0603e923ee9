import { afterAll, afterEach, beforeEach } from "vitest";
import { testDatabases } from "../packages/server/src/testing/test-database.ts";
import { testOn } from "../packages/server/src/testing/tested-store.ts";

// Each server of a test gets a database of its own.
testOn(async () => ({
  database: { url: await testDatabases.take(), nodeAddress: null },
  masterSecret: "the secret of tests",
}));

beforeEach(() => testDatabases.beginTest());
afterEach(() => testDatabases.endTest());
afterAll(() => testDatabases.endFile());
