import type { TestProject } from "vitest/node";
import { startPostgres } from "../packages/server/src/testing/start-postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Of a PostgreSQL server for all files of a run, in the name of a role that may make databases. */
    readonly postgresUrl: string;
  }
}

/** Starts the server that {@link ProvidedContext.postgresUrl} is about, and ends it behind the last file. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  project.provide("postgresUrl", server.url);
  return async () => server[Symbol.asyncDispose]();
}
