import { createTestDatabase } from "../packages/server/src/testing/test-database.ts";
import { testOn } from "../packages/server/src/testing/tested-store.ts";

// Each server of a test gets a database of its own.
testOn(async () => ({
  database: { url: await createTestDatabase(), nodeAddress: null },
  masterSecret: "the secret of tests",
}));
