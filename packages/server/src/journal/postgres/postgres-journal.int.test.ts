import { afterAll, beforeAll, describe } from "vitest";
import { probePostgres, startPostgres, type TestPostgres } from "../../testing/start-postgres.ts";
import { describeJournal } from "../contract.ts";
import { openPostgresJournal } from "./postgres-journal.ts";

const probe = probePostgres();

describe.skipIf(!probe.isUsable)(`needs PostgreSQL (${probe.detail})`, () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  describeJournal(
    "postgres",
    async () => await openPostgresJournal({ url: await server.createDatabase(), onFailure: console.error }),
  );
});
