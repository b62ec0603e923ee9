import { test } from "vitest";
import { probePostgres } from "../packages/server/src/testing/start-postgres.ts";

test.skip(`the tests of the store on PostgreSQL: ${probePostgres().detail}`);
