import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { announceServer, findServers } from "./running-servers.ts";

test("who looks for servers while one is announced does not take its announcement away", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-running-"));
  const url = "http://127.0.0.1:8000";
  const server = { url, apiUrl: url, usesFolderKey: true, hasPage: true, needsLogin: true };
  for (let round = 0; round < 100; round++) {
    const announcing = announceServer(folder.path, server);
    const find = async (): Promise<void> => {
      for (let count = 0; count < 5; count++) await findServers(folder.path);
    };
    await Promise.all([find(), find(), find()]);
    await using _announced = await announcing;
    expect(await findServers(folder.path)).toMatchObject([server]);
  }
});
