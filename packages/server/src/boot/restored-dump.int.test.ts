import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { expect, test } from "vitest";
import { probePostgres, startPostgres } from "../testing/start-postgres.ts";
import { startTestServer } from "../testing/start-server.ts";

const probe = probePostgres();
const isPossible = probe.isUsable && !probe.isGiven;
const run = promisify(execFile);
const masterSecret = "the secret of all servers";

test.skipIf(!isPossible)(
  `a dump of the database that was made while a server ran is a whole store in another one (${probe.detail})`,
  async () => {
    await using postgres = await startPostgres();
    await using folder = await openTemporaryDirectory();
    const [url, restored] = [await postgres.createDatabase(), await postgres.createDatabase()];
    const script = { turns: [{ text: "Found it." }, { text: "Again." }] };
    const config = { database: { url, nodeAddress: null }, masterSecret };
    await using before = await startTestServer({ script, config });
    const { id } = await before.createConversation({ text: "Look for the comet." });
    await before.waitForStatus(id, "finished");
    await before.call("PUT", "/api/settings/secrets", { name: "TOKEN", value: "a secret value" });
    const events = await before.eventTexts(id);
    const file = join(folder.path, "convoke.dump");
    await run(join(probe.detail, "pg_dump"), ["--format=custom", `--file=${file}`, url]);
    await before.client.sendMessage(id, { content: [{ type: "text", text: "Not in the dump." }] });
    await run(join(probe.detail, "pg_restore"), [
      "--no-owner",
      "--exit-on-error",
      `--dbname=${restored}`,
      file,
    ]);
    await using after = await startTestServer({
      script: { turns: [{ text: "Once more." }] },
      config: {
        ...config,
        database: { url: restored, nodeAddress: null },
        workspaceRoot: before.workspaceDir,
      },
    });
    expect(await after.eventTexts(id)).toEqual(events);
    expect((await after.call("GET", "/api/settings/secrets/TOKEN")).text).toBe("a secret value");
    // The owner in the dump still lives, on the original database: requests here must not reach it.
    const original = await before.eventTexts(id);
    await after.client.sendMessage(id, { content: [{ type: "text", text: "Again." }], run: true });
    await after.waitForStatus(id, "finished");
    expect((await after.eventTexts(id)).length).toBeGreaterThan(events.length);
    expect(await before.eventTexts(id)).toEqual(original);
  },
);
