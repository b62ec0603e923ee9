import { cp, mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "./random.ts";
import { startTestServer } from "./start-server.ts";

const script = { turns: [{ text: "Done." }], loop: true };
/** Three places each; more with `CONVOKE_EVERY_CASE=1`. */
const rounds = process.env["CONVOKE_EVERY_CASE"] === "1" ? 40 : 4;

let folder: string;
let ids: string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "convoke-flips-"));
  await using server = await startTestServer({ script });
  ids = [];
  for (let count = 0; count < 12; count += 1)
    ids.push(await server.runTo("finished", `hello ${"x".repeat(3000)}`));
  await server.close();
  await cp(server.dataDir, join(folder, "whole"), { recursive: true });
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

test(
  "P7, P53, F5: whatever bytes of the log are flipped, every answer comes, and what fails has a code",
  { timeout: 900_000 },
  async () => {
    const wrong: string[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const dataDir = join(folder, `round ${round}`);
      await cp(join(folder, "whole"), dataDir, { recursive: true });
      await flip(join(dataDir, "journal.db"), round);
      wrong.push(...(await readEverything(dataDir, round)));
      await rm(dataDir, { recursive: true, force: true });
    }
    expect(wrong).toEqual([]);
  },
);

/** Overwrites forty bytes in each of three places after the first page, without which the file is not a database. */
async function flip(path: string, seed: number): Promise<void> {
  const random = createRandom(seed);
  const { size } = await stat(path);
  await using file = await open(path, "r+");
  for (let place = 0; place < 3; place += 1) {
    const at = 16_384 + random.whole(size - 16_384 - 40);
    await file.write(Buffer.from(Array.from({ length: 40 }, () => random.whole(256))), 0, 40, at);
  }
}

async function readEverything(dataDir: string, round: number): Promise<string[]> {
  const wrong: string[] = [];
  await using server = await startTestServer({ script, config: { dataDir } }).catch((error: unknown) => {
    wrong.push(`round ${round}: start: ${String(error)}`);
    return { call: null, [Symbol.asyncDispose]: async () => {} };
  });
  if (server.call === null) return wrong;
  const ask = async (method: string, path: string, body?: object): Promise<void> => {
    const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), 60_000).unref());
    const reply = await Promise.race([server.call(method, path, body), late]);
    const code = (reply?.json as { code?: string } | undefined)?.code;
    if (reply === null) wrong.push(`round ${round}: ${method} ${path}: no answer`);
    else if (reply.status >= 500 && (code === undefined || code === "internal_error"))
      wrong.push(`round ${round}: ${method} ${path}: ${reply.text}`);
  };
  await ask("GET", "/api/conversations/search?limit=100");
  await ask("GET", "/api/conversations/count");
  for (const id of ids) {
    const path = `/api/conversations/${id}`;
    await ask("GET", path);
    await ask("GET", `${path}/events/search?limit=100`);
    await ask("GET", `${path}/events/search?limit=100&body=hello&sort_order=TIMESTAMP_DESC`);
    await ask("GET", `${path}/events/count?kind=MessageEvent`);
    await ask("POST", `${path}/events`, { role: "user", content: [{ type: "text", text: "again" }] });
  }
  await ask("POST", "/api/conversations", server.startRequest());
  return wrong;
}
