/**
 * Writes a data folder of this release, which every later one must be able to read.
 *
 * Usage: npx node packages/server/src/testing/golden/write-golden.ts RELEASE. A folder that was released is never written again.
 */
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openJournal } from "../../journal/open-journal.ts";
import { formatInstant } from "../../lib/instant.ts";
import { startTestServer } from "../start-server.ts";
import { goldenScript } from "./golden-script.ts";

const [release = ""] = process.argv.slice(2);
const target = join(import.meta.dirname, release);
if (release === "" || existsSync(target)) throw new Error("Name a release that has no folder yet.");

await using server = await startTestServer({ script: goldenScript });
const finished = await server.runTo("finished", "Look around.", { title: "Finished" });
const waiting = await server.runTo("waiting_for_confirmation", "Ask first.", {
  title: "Waiting",
  confirmation_policy: { kind: "AlwaysConfirm" },
});
const strange = await server.runTo("finished", "Look around.", { title: "From later" });
await server.call("PUT", "/api/settings/secrets", { name: "GOLDEN", value: "golden-value" });
const events = Object.fromEntries(
  await Promise.all(
    [finished, waiting].map(async (id) => [id, await server.events(id)] as const),
  ),
);
await server.close();
{
  // What a later version may write, and this one does not know.
  await using journal = await openJournal({ dataDir: server.dataDir });
  const lease = await journal.claim(strange);
  const expectedSeq = await journal.lastSeq(strange);
  const timestampMicros = Date.now() * 1000 + 1_000_000;
  // A UUIDv7 behind all others.
  const hex = Math.floor(timestampMicros / 1000).toString(16).padStart(12, "0");
  const id = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000001`;
  const timestamp = formatInstant(timestampMicros);
  const json = JSON.stringify({ id, timestamp, kind: "EventOfTomorrow", source: "agent", news: [1, 2] });
  const unknown = { id, timestampMicros, kind: "EventOfTomorrow", source: "agent", json, text: null, meta: null };
  await journal.append(lease, { expectedSeq, events: [unknown] });
  await journal.release(lease);
}
await mkdir(target);
await cp(server.dataDir, join(target, "data"), { recursive: true });
await tidy(join(target, "data"));
await writeFile(join(target, "expected.json"), `${JSON.stringify({ finished, waiting, strange, events }, null, 1)}\n`);

/** Leaves out what a start makes again, and brings the logs into their databases. */
async function tidy(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.endsWith(".db") || name.endsWith(".sqlite")) {
      using database = new DatabaseSync(join(folder, name));
      database.exec("PRAGMA journal_mode = DELETE; VACUUM");
    }
  }
  for (const name of await readdir(folder)) {
    if (!/\.(db|sqlite)$|^master-key$/.test(name)) await rm(join(folder, name), { recursive: true });
  }
}
