import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PostgresPlace } from "../database/postgres-place.ts";
import { silentLogger } from "../lib/logger.ts";
import { openStore } from "../boot/open-store.ts";
import type { Store } from "../boot/store.ts";
import { verifyAuditInPlace } from "./audit-in-place.ts";
import type { RotateResult } from "./reseal.ts";
import { rotateMasterKey } from "./rotate-master-key.ts";
import { probePostgres, startPostgres, type TestPostgres } from "../testing/start-postgres.ts";
import { startTestServer, type TestServer } from "../testing/start-server.ts";

const probe = probePostgres();
const present = "the first secret of all servers";
const next = "the second secret of all servers";
const longMs = 60_000;

const stores = ["a data folder", ...(probe.isUsable ? ["PostgreSQL"] : [])];

describe.each(stores)("the configured key of %s", { timeout: 300_000 }, (kind) => {
  let postgres: TestPostgres | null = null;
  let server: TestServer;
  let database: PostgresPlace | null = null;
  beforeAll(async () => {
    postgres = kind === "PostgreSQL" ? await startPostgres() : null;
  });
  afterAll(async () => {
    await postgres?.[Symbol.asyncDispose]();
  });

  /** A server that has sealed seven texts: two are revisions of its settings. */
  async function startUsed(): Promise<TestServer> {
    database = postgres === null ? null : { url: await postgres.createDatabase(), nodeAddress: null };
    server = await startTestServer({
      script: { turns: [{ text: "Hello." }], loop: true },
      config: { database, masterSecret: present },
    });
    await server.call("POST", "/api/settings", { llm_api_key: "canary-settings" });
    for (const name of ["A", "B"])
      await server.call("POST", "/api/secrets", { name, value: `canary-${name}` });
    for (const value of ["canary-one", "canary-two"])
      await server.createConversation({ secrets: { TOKEN: { kind: "StaticSecret", value } } });
    return server;
  }

  async function rotate(
    secrets: { readonly present: string; readonly next: string } | null = { present, next },
    onProgress: (resealed: number) => void = () => {},
  ): Promise<RotateResult> {
    return await rotateMasterKey({ dataDir: server.dataDir, database, secrets, onProgress });
  }

  const open = async (masterSecret: string): Promise<Store> =>
    await openStore({ dataDir: server.dataDir, database, masterSecret, logger: silentLogger });

  test("every text is sealed with the next key, the present one opens nothing, and the server goes on", async () => {
    await using used = await startUsed();
    await used.close();
    const old = await openBox(await open(present));
    expect(await rotate()).toEqual({ resealed: 7, unopened: 0 });
    await expect(open(present)).rejects.toThrow("not the one that was used here before");
    {
      await using store = await open(next);
      const sealed = await allSealed(store);
      for (const text of sealed) {
        expect(store.secretBox.unseal(text)).toContain("canary");
        expect(() => old.unseal(text)).toThrow("cannot be opened");
      }
      expect(sealed).toHaveLength(5);
    }
    await used.restart({ masterSecret: next });
    expect((await used.call("GET", "/api/settings/secrets/A")).text).toBe("canary-A");
    const { items } = await used.client.searchConversations();
    await used.client.sendMessage(items[0]!.id, { content: [{ type: "text", text: "hi" }], run: true });
    await used.waitForStatus(items[0]!.id, "finished", longMs);
    await used.close();
    // Begun again after its end, because nobody saw that it ended.
    expect(await rotate()).toEqual({ resealed: 0, unopened: 0 });
    expect(JSON.stringify(used.log)).not.toContain("secret of all servers");
  });

  test("P54: the heads of the audit log are sealed with the next key", async () => {
    await using used = await startUsed();
    await used.close();
    const { dataDir } = used;
    const verify = (masterSecret: string): ReturnType<typeof verifyAuditInPlace> =>
      verifyAuditInPlace({ dataDir, database, masterSecret });
    expect(await verify(present)).toMatchObject({ breaks: [], streams: [{ stream: "calls", lines: 5 }] });
    await rotate();
    expect((await verify(next)).breaks).toEqual([]);
    await expect(verify(present)).rejects.toThrow("The secret key is not the one");
  });

  test.each([1, 5])(
    "P7: ended after %d texts, no server starts, and it goes on where it was",
    async (last) => {
      await using used = await startUsed();
      await used.close();
      const crash = new Error("the process died");
      const rotating = rotate({ present, next }, (resealed) => {
        if (resealed === last) throw crash;
      });
      await expect(rotating).rejects.toBe(crash);
      for (const secret of [present, next]) await expect(open(secret)).rejects.toThrow("is being changed");
      await expect(rotate({ present, next: "a third" })).rejects.toThrow("another next key");
      expect(await rotate()).toEqual({ resealed: 7 - last, unopened: 0 });
      await using store = await open(next);
      const plain = (await allSealed(store)).map((text) => store.secretBox.unseal(text));
      expect(plain).toHaveLength(5);
      for (const text of plain) expect(text).toContain("canary");
    },
  );

  test("while a server runs, with a wrong key, without both, or where nothing is, it is refused and changes nothing", async () => {
    await using used = await startUsed();
    await expect(rotate()).rejects.toThrow("Stop");
    await used.restart();
    await used.close();
    await expect(rotate(null)).rejects.toThrow("CONVOKE_SECRET_KEY_NEXT");
    await expect(rotate({ present: "wrong", next })).rejects.toThrow("not the one that was used here");
    await expect(rotate({ present, next: present })).rejects.toThrow("Make another");
    await using store = await open(present);
    for (const text of await allSealed(store)) expect(store.secretBox.unseal(text)).toContain("canary");
  });
});

describe.skipIf(!probe.isUsable)(`on PostgreSQL (${probe.detail})`, { timeout: 300_000 }, () => {
  test("P7: a change of the key is started again where it, or all servers, were killed", async () => {
    await using postgres = await startPostgres();
    const url = await postgres.createDatabase();
    const database = { url, nodeAddress: null };
    await using server = await startTestServer({ config: { database, masterSecret: present } });
    await server.call("POST", "/api/secrets", { name: "A", value: "canary" });
    await server.close();
    // As `kill -9` leaves it: its row is alive, and no heartbeats are sent or counted.
    await ask(url, "INSERT INTO convoke.nodes (id) VALUES ('killed')");
    const { dataDir } = server;
    expect(await rotateMasterKey({ dataDir, database, secrets: { present, next } })).toEqual({
      resealed: 1,
      unopened: 0,
    });
    await server.restart({ masterSecret: next });
    expect((await server.call("GET", "/api/settings/secrets/A")).text).toBe("canary");
  });

  test("P6: a key rotation claims no conversation, so that its running tools do not count as lost", async () => {
    await using postgres = await startPostgres();
    const url = await postgres.createDatabase();
    const database = { url, nodeAddress: null };
    await using server = await startTestServer({ config: { database, masterSecret: present } });
    await server.createConversation({ secrets: { TOKEN: { kind: "StaticSecret", value: "canary" } } });
    await server.close();
    const heads = async (): Promise<unknown> => await ask(url, "SELECT * FROM convoke.heads");
    const before = await heads();
    const secrets = { present, next };
    expect(await rotateMasterKey({ dataDir: server.dataDir, database, secrets })).toMatchObject({
      resealed: 1,
    });
    expect(await heads()).toEqual(before);
  });

  test("where no server has worked yet, there is nothing to change", async () => {
    await using postgres = await startPostgres();
    const database = { url: await postgres.createDatabase(), nodeAddress: null };
    const rotating = rotateMasterKey({ dataDir: "/nowhere", database, secrets: { present, next } });
    await expect(rotating).rejects.toThrow("Nothing was sealed");
  });
});

async function openBox(store: Store): Promise<Store["secretBox"]> {
  await store[Symbol.asyncDispose]();
  return store.secretBox;
}

/** What is sealed in settings, secrets and conversations. */
async function allSealed({ database, journal }: Store): Promise<string[]> {
  const settings = await database.tables.selectFrom("settings").select("sealed_document").execute();
  const secrets = await database.tables.selectFrom("secrets").select("sealed_value").execute();
  const { items } = await journal.searchConversations({ sort: "CREATED_AT", limit: 100 });
  return [
    ...settings.map((row) => row.sealed_document),
    ...secrets.map((row) => row.sealed_value),
    ...items.map((row) => row.sealedSecrets ?? ""),
  ];
}

async function ask(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}
