import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { ImportReport } from "@convoke/protocol";
import { tarEntries } from "@convoke/tool-host";
import { expect, test } from "vitest";
import type { Journal } from "../../../journal/journal.ts";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const golden = new URL("../../../imports/golden/", import.meta.url);
const archive = readFileSync(new URL("openhands-1.58.2.tar.gz", golden));

type Upload = { readonly name: string; readonly content: Uint8Array | string };

/** Sends an upload to be imported; null where no report came. */
async function send(server: TestServer, { name, content }: Upload): Promise<ImportReport["results"] | null> {
  const form = new FormData();
  form.set("file", new File([content as Uint8Array<ArrayBuffer> | string], name));
  const reply = await fetch(`${server.url}/api/conversations/import`, {
    method: "POST",
    headers: { "X-Session-API-Key": server.key },
    body: form,
  });
  return reply.ok ? ((await reply.json()) as ImportReport).results : null;
}

const writes = ["createConversation", "claim", "append", "release", "deleteConversation"] as const;

/** A store that is out of reach from the n-th write of an import on, before or after that write, as for a process that is killed there. */
class DyingStore {
  readonly passed: string[] = [];
  #dies: { readonly at: number; readonly isAfter: boolean } | null = null;
  #count = 0;
  #journal: Journal | null = null;

  /** Stored events of a conversation, the note of the import left out: it has the time of that import. */
  async read(id: string): Promise<readonly string[]> {
    const texts = (await this.#journal!.read(id, 0, 5_000)).map(({ json }) => json);
    expect(JSON.parse(texts.at(-1)!)).toMatchObject({ key: "imported" });
    return texts.slice(0, -1);
  }

  readonly wrap = (journal: Journal): Journal => {
    this.#journal = journal;
    for (const name of writes) {
      const write = (journal[name] as (...given: unknown[]) => Promise<unknown>).bind(journal);
      Object.assign(journal, { [name]: (...given: unknown[]) => this.#pass(name, () => write(...given)) });
    }
    return journal;
  };

  arm(dies: { readonly at: number; readonly isAfter: boolean } | null): void {
    [this.#dies, this.#count, this.passed.length] = [dies, 0, 0];
  }

  async #pass(name: string, write: () => Promise<unknown>): Promise<unknown> {
    const { at, isAfter } = this.#dies ?? { at: Infinity, isAfter: false };
    this.#count += 1;
    this.passed.push(name);
    if (this.#count > at || (this.#count === at && !isAfter)) throw new Error("The process was killed.");
    const result = await write();
    if (this.#count === at) throw new Error("The process was killed.");
    return result;
  }
}

/** Some conversations of the reference's folders, as one archive a conversation would be: the first `count` of them. */
async function goldenFolders(count: number): Promise<Upload> {
  const blocks: Buffer[] = [];
  const bytes = gunzipSync(archive);
  const folders = new Set<string>();
  for await (const { name, content } of tarEntries(once(bytes))) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    const [folder = ""] = name.split("/");
    if (folders.size === count && !folders.has(folder)) continue;
    folders.add(folder);
    blocks.push(...tarFile(name, Buffer.concat(chunks)));
  }
  return { name: "conversations.tar", content: Buffer.concat([...blocks, Buffer.alloc(1_024)]) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function tarFile(name: string, content: Buffer): Buffer[] {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write("0000644\0", 100);
  header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
  header.write("        0", 148);
  header.write("ustar\0", 257);
  header.write("00", 263);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
}

const id = "66666666-6666-4666-8666-666666666666";

/** A download of this server's form, long enough for several appends. */
function longExport(): Upload {
  const events = Array.from({ length: 600 }, (_, index) => ({
    kind: "MessageEvent",
    id: `019b0000-0000-7000-8000-${String(index).padStart(12, "0")}`,
    timestamp: new Date(1_790_000_000_000 + index * 1_000).toISOString(),
    source: "user",
    llm_message: { role: "user", content: [{ type: "text", text: `Message ${index}.` }] },
  }));
  return {
    name: `${id}.jsonl`,
    content: events.map((event) => `${JSON.stringify(event)}\n`).join(""),
  };
}

/** `CONVOKE_EVERY_PASSAGE=1` ends the server at each write, before and after it, as the nightly run does; else at a third of these moments. */
const isEvery = process.env["CONVOKE_EVERY_PASSAGE"] === "1";

const listed = async (server: TestServer): Promise<string[]> =>
  (await server.client.searchConversations({ limit: 100 })).items.map((item) => item.id).toSorted();

test.each([
  ["the reference's conversation folders", () => goldenFolders(2)],
  ["a downloaded conversation", async () => longExport()],
] as const)(
  "Import: a server that is killed at any write of %s leaves each whole or none of it, and the import can be repeated",
  async (_, open) => {
    const upload = await open();
    const store = new DyingStore();
    await using server = await startTestServer({ wrapJournal: store.wrap });
    store.arm(null);
    const clean = (await send(server, upload))!;
    expect(clean.map(({ status }) => status)).toEqual(clean.map(() => "imported"));
    const boundaries = store.passed.length;
    expect(boundaries).toBeGreaterThan(4);
    const ids = clean.map(({ conversation_id }) => conversation_id!).toSorted();
    const whole = new Map<string, readonly string[]>();
    for (const one of ids) whole.set(one, await store.read(one));
    const check = async (one: string): Promise<void> => expect(await store.read(one)).toEqual(whole.get(one));
    for (const one of ids) await server.client.deleteConversation(one);
    for (let at = 1; at <= boundaries; at++)
      for (const isAfter of [false, true]) {
        if (!isEvery && (2 * at + Number(isAfter)) % 3 !== 0) continue;
        store.arm({ at, isAfter });
        expect(await send(server, upload), `${at} ${isAfter}`).toBeNull();
        store.arm(null);
        await server.restart();
        const left = await listed(server);
        for (const one of left) await check(one);
        // What the killed server left is removed while the next one starts.
        const again = await send(server, upload);
        expect(again?.map(({ status, conversation_id: one }) => [one, status]).toSorted()).toEqual(
          ids.map((one) => [one, left.includes(one) ? "unchanged" : "imported"]),
        );
        expect(await listed(server)).toEqual(ids);
        for (const one of ids) await check(one);
        for (const one of ids) await server.client.deleteConversation(one);
      }
  },
);

test("P2: an import and a fork that take longer than the polls for lost runs are not taken for lost ones", async () => {
  let polls = 0;
  let isHeld = true;
  await using server = await startTestServer({
    wrapJournal: (journal) => {
      const listActiveHere = journal.listActiveHere.bind(journal);
      const append = journal.append.bind(journal);
      return Object.assign(journal, {
        listActiveHere: async () => {
          polls += 1;
          return await listActiveHere();
        },
        append: async (...given: Parameters<typeof append>) => {
          await append(...given);
          // Between two pieces, until two whole polls are over.
          const began = polls;
          if (isHeld && given[1].events.length === 500)
            await expect.poll(() => polls, { timeout: 60_000 }).toBeGreaterThan(began + 3);
        },
      });
    },
  });
  const [imported] = (await send(server, longExport()))!;
  expect(imported).toMatchObject({ status: "imported", conversation_id: id });
  const fork = await server.call("POST", `/api/conversations/${id}/fork`, {});
  expect(fork.status, fork.text).toBe(201);
  isHeld = false;
  expect((await listed(server)).length).toBe(2);
});

test("Import: what a store that is out of reach for a moment leaves is removed while the server goes on, and the import can be repeated", async () => {
  const store = new DyingStore();
  // A poll for what was left would remove it before it is found in the way.
  const mayPoll = Promise.withResolvers<void>();
  let isPollHeld = false;
  await using server = await startTestServer({
    wrapJournal: (journal) => {
      const listActiveHere = journal.listActiveHere.bind(journal);
      return Object.assign(store.wrap(journal), {
        listActiveHere: async () => {
          if (isPollHeld) await mayPoll.promise;
          return await listActiveHere();
        },
      });
    },
  });
  isPollHeld = true;
  store.arm({ at: 3, isAfter: true });
  expect(await send(server, longExport())).toBeNull();
  store.arm(null);
  const [refused] = (await send(server, longExport()))!;
  expect([refused!.status, refused!.code]).toEqual(["refused", "import_in_progress"]);
  mayPoll.resolve();
  await expect
    .poll(async () => (await send(server, longExport()))?.[0]?.status, { timeout: 60_000 })
    .toBe("imported");
  expect(await listed(server)).toEqual([id]);
});
