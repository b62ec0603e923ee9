import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openJournal } from "../../journal/open-journal.ts";
import { isDamage } from "../../lib/storage-fault.ts";
import { checkDamagedReads, type WholeLog } from "../check-damaged-reads.ts";
import { damagePages } from "../damage-pages.ts";
import { createRandom } from "../random.ts";
import { startTestServer } from "../start-server.ts";

/**
 * `npx node nightly/damaged-folders.ts --count 300`: reads data folders with zeroed, random and swapped pages in every possible way, by
 * the journal and by a server. Exits with 1 when a read does not end, or two answers differ.
 */
const { values } = parseArgs({
  options: { count: { type: "string", default: "300" }, from: { type: "string", default: "0" } },
});
const [count, from] = [Number(values.count), Number(values.from)];
const script = { turns: [{ text: "hello there" }], loop: true };
const lateMs = 30_000;
const folder = await mkdtemp(join(tmpdir(), "convoke-damaged-"));
const whole = join(folder, "whole");
const logs = await makeWhole();
let wrongFolders = 0;
let refused = 0;
for (let seed = from; seed < from + count; seed += 1) {
  const dataDir = join(folder, String(seed));
  await cp(whole, dataDir, { recursive: true });
  const damage = damagePages(join(dataDir, "journal.db"), createRandom(seed));
  // Printed before, for a read that ends the process.
  process.stderr.write(`${seed}: ${damage}\n`);
  const wrong = await readAll(dataDir);
  if (wrong === null) refused += 1;
  else if (wrong.length > 0) {
    wrongFolders += 1;
    console.log(JSON.stringify({ seed, damage, wrong: wrong.slice(0, 5) }));
  }
  await rm(dataDir, { recursive: true, force: true });
}
console.log(`${count} folders: ${refused} were refused at the start, ${wrongFolders} with findings`);
await rm(folder, { recursive: true, force: true });
process.exit(wrongFolders === 0 ? 0 : 1);

async function makeWhole(): Promise<WholeLog[]> {
  const made: WholeLog[] = [];
  const ids: string[] = [];
  {
    await using server = await startTestServer({ script });
    for (let index = 0; index < 12; index += 1) {
      const id = await server.runTo("finished", `hello ${index} ${"x".repeat(1_500)}`);
      ids.push(id);
      for (let more = 0; more < index * 2; more += 1) {
        const content = [{ type: "text", text: `hello again ${more} ${"y".repeat(300)}` }];
        await server.call("POST", `/api/conversations/${id}/events`, { role: "user", content });
      }
    }
    await server.close();
    await cp(server.dataDir, whole, { recursive: true });
  }
  await using journal = await openJournal({ dataDir: whole });
  for (const id of ids) {
    const { ownerId } = (await journal.getConversation(id))!;
    made.push({ id, ownerId, events: (await journal.read(id, 0, 1_000)).map(({ json }) => json) });
  }
  return made;
}

/** Null when the store is rejected as damaged before anything is read. */
async function readAll(dataDir: string): Promise<string[] | null> {
  const journal = await openJournal({ dataDir }).catch((error: unknown) => {
    if (!isDamage(error)) throw error;
    return null;
  });
  if (journal === null) return null;
  const wrong = await checkDamagedReads(journal, logs);
  await journal[Symbol.asyncDispose]();
  wrong.push(...(await askServer(dataDir)));
  return wrong;
}

async function askServer(dataDir: string): Promise<string[]> {
  const wrong: string[] = [];
  const server = await startTestServer({ script, isDamaged: true, config: { dataDir } }).catch(
    (error: unknown) => {
      if (!isDamage(error)) wrong.push(`start: ${String(error)}`);
      return null;
    },
  );
  if (server === null) return wrong;
  const ask = async (method: string, path: string, body?: object): Promise<void> => {
    const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), lateMs).unref());
    const reply = await Promise.race([server.call(method, path, body), late]);
    const code = (reply?.json as { code?: string } | undefined)?.code;
    if (reply === null) wrong.push(`${method} ${path}: no answer`);
    else if (reply.status >= 500 && (code === undefined || code === "internal_error"))
      wrong.push(`${method} ${path}: ${reply.text}`);
  };
  await ask("GET", "/api/conversations/search?limit=100");
  await ask("GET", "/api/conversations/count");
  for (const { id } of logs) {
    const path = `/api/conversations/${id}`;
    await ask("GET", path);
    await ask("GET", `${path}/events/search?limit=100`);
    await ask("GET", `${path}/events/search?limit=10&sort_order=TIMESTAMP_DESC`);
    await ask("GET", `${path}/events/search?limit=100&body=hello`);
    await ask("GET", `${path}/events/count`);
    await ask("POST", `${path}/events`, { role: "user", content: [{ type: "text", text: "again" }] });
  }
  await server[Symbol.asyncDispose]().catch((error: unknown) => {
    if (!isDamage(error)) wrong.push(`end: ${String(error)}`);
  });
  return wrong;
}
