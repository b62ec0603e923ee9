import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openApplicationDatabase } from "../database/sqlite-application-database.ts";
import { openJournal } from "../journal/open-journal.ts";
import { rotateMasterKey } from "./rotate-master-key.ts";
import { openSqliteSandboxStore, sandboxesFile } from "../sandboxes/sqlite-sandbox-store.ts";
import { openMasterKey } from "../security/master-key.ts";
import { openSecretBox, SealError } from "../security/seal.ts";
import { startTestServer, type TestServer } from "../testing/start-server.ts";

let server: TestServer;
let masterKey: string;
let sealedBefore: string[];
beforeEach(async () => {
  server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
  // Two more texts are the revisions before and after it.
  await server.call("POST", "/api/settings", { llm_api_key: "canary-settings" });
  await server.call("POST", "/api/secrets", { name: "A", value: "canary-a" });
  await server.call("POST", "/api/secrets", { name: "B", value: "canary-b" });
  for (const value of ["canary-one", "canary-two"]) {
    await server.createConversation({ secrets: { TOKEN: { kind: "StaticSecret", value } } });
  }
  masterKey = await readFile(join(server.dataDir, "master-key"), "utf8");
  await server.close();
  sealedBefore = await allSealed();
});
afterEach(() => server[Symbol.asyncDispose]());

test("every text is sealed with the new key, the old one opens nothing, and the server goes on", async () => {
  expect(await rotateMasterKey({ dataDir: server.dataDir })).toEqual({ resealed: 7, unopened: 0 });
  expect(await readFile(join(server.dataDir, "master-key"), "utf8")).not.toBe(masterKey);
  expect(await readdir(server.dataDir)).not.toContain("master-key.next");
  await expectOpened(5);
  const newBox = await openSecretBox(join(server.dataDir, "master-key"));
  for (const sealed of sealedBefore) expect(() => newBox.unseal(sealed)).toThrow(SealError);
  await server.restart();
  expect((await server.call("GET", "/api/settings")).json).toMatchObject({ llm_api_key_set: true });
  const { items } = await server.client.searchConversations();
  await server.client.sendMessage(items[0]!.id, { content: [{ type: "text", text: "hi" }], run: true });
  await server.waitForStatus(items[0]!.id, "finished");
});

test.each([1, 3, 5])(
  "interrupted after %d texts, servers can run, and the rotation is resumed",
  async (last) => {
    const crash = new Error("the process died");
    const rotating = rotateMasterKey({
      dataDir: server.dataDir,
      onProgress: (resealed) => {
        if (resealed === last) throw crash;
      },
    });
    await expect(rotating).rejects.toBe(crash);
    expect(await readFile(join(server.dataDir, "master-key"), "utf8")).toBe(masterKey);
    await expectOpened(5);
    await server.restart();
    await server.call("POST", "/api/secrets", { name: "C", value: "canary-c" });
    await server.close();
    const { resealed, unopened } = await rotateMasterKey({ dataDir: server.dataDir });
    expect({ resealed, unopened }).toEqual({ resealed: 8 - last, unopened: 0 });
    await expectOpened(6);
  },
);

test("every column of every database that holds sealed texts is sealed with the new key, and with no other", async () => {
  const oldBox = await openSecretBox(join(server.dataDir, "master-key"));
  const seal = (what: string): string => oldBox.seal(`canary-${what}`);
  {
    await using database = await openApplicationDatabase(server.dataDir);
    const login = { user_id: "bob", id: "1", sealed_state: seal("login"), updated_at: 1 };
    await database.tables.insertInto("mcp_logins").values(login).execute();
    const revision = { user_id: "bob", kind: "model", profile: "p", number: 1, name: "p" } as const;
    await database.tables
      .insertInto("profile_revisions")
      .values({
        ...revision,
        change: "saved",
        digest: "d",
        sealed_content: seal("revision"),
        created_at: 1,
      })
      .execute();
    const waiting = { digest: "d", sealed_state: seal("login state"), address: "127.0.0.1", ends_at: 1 };
    await database.tables.insertInto("login_states").values(waiting).execute();
    const task = {
      id: "1",
      owner_id: "bob",
      conversation_id: "1",
      sandbox_id: "1",
    };
    const state = {
      status: "WORKING",
      detail: null,
      request: "{}",
      attempts: 0,
      is_leaving: 0,
      created_at: 1,
      updated_at: 1,
    };
    await database.tables
      .insertInto("start_tasks")
      .values({ ...task, ...state, sealed_order: seal("order") })
      .execute();
    await database.tables
      .insertInto("push_keys")
      .values({ id: "vapid", public_key: "p", sealed_private_key: seal("push key") })
      .execute();
    const subscription = {
      id: "1",
      user_id: "bob",
      service: "push.example.org",
      kinds: "asks",
      created_at: 1,
    };
    await database.tables
      .insertInto("push_subscriptions")
      .values({ ...subscription, sealed_endpoint: seal("endpoint") })
      .execute();
    await database.tables
      .insertInto("automations")
      .values({
        id: "1",
        owner_id: "bob",
        version: 1,
        kind: "webhook",
        is_paused: 0,
        document: "{}",
        created_at: 1,
        updated_at: 1,
        sealed_hook_secret: seal("hook"),
      })
      .execute();
    const entered = { user_id: "bob", key_id: null, ends_at: 1, sealed_id_token: seal("token") };
    await database.tables
      .insertInto("login_tickets")
      .values({ ...entered, digest: "1", login_ends_at: null })
      .execute();
    await database.tables
      .insertInto("browser_logins")
      .values({
        ...entered,
        id: "1",
        cookie_digest: "1",
        proof_digest: "1",
        client: "",
        address: "",
        created_at: 1,
        last_used_at: 1,
        last_ends_at: null,
      })
      .execute();
    await using store = openSqliteSandboxStore(sandboxesFile(server.dataDir));
    const limits = { memoryMb: 64, cpus: 1, pids: 10 };
    await store.insert({
      id: "one",
      ownerId: "local",
      backend: "process",
      spec: { id: "one", workspaceDir: "/w", environment: {}, limits, network: "none" },
      record: null,
      sealedKey: seal("sandbox"),
      createdAtMs: 1,
      status: "PAUSED",
      statusDetail: null,
      wish: "paused",
    });
  }
  const before = await sealedColumns();
  // A new column needs a row here; that it is sealed again is then shown below.
  expect(Object.entries(before).filter(([, texts]) => texts.length === 0)).toEqual([]);
  expect(Object.keys(before)).toEqual(
    expect.arrayContaining([
      "automations.sealed_hook_secret",
      "browser_logins.sealed_id_token",
      "conversation_documents.sealed_secrets",
      "login_states.sealed_state",
      "login_tickets.sealed_id_token",
      "mcp_logins.sealed_state",
      "profile_revisions.sealed_content",
      "push_keys.sealed_private_key",
      "push_subscriptions.sealed_endpoint",
      "sandboxes.sealed_key",
      "secrets.sealed_value",
      "settings.sealed_document",
      "start_tasks.sealed_order",
    ]),
  );
  const count = Object.values(before).flat().length;
  expect(await rotateMasterKey({ dataDir: server.dataDir })).toEqual({ resealed: count, unopened: 0 });
  const newBox = await openSecretBox(join(server.dataDir, "master-key"));
  const after = await sealedColumns();
  for (const [column, texts] of Object.entries(after)) {
    expect(texts, column).toHaveLength(before[column]!.length);
    expect(texts.map((text) => newBox.unseal(text)).join(), column).toContain("canary");
    for (const text of texts) {
      expect(() => oldBox.unseal(text), column).toThrow(SealError);
    }
  }
});

test("while a server runs it is refused and changes nothing", async () => {
  await server.restart();
  await expect(rotateMasterKey({ dataDir: server.dataDir })).rejects.toThrow("Stop it first");
  expect(await readFile(join(server.dataDir, "master-key"), "utf8")).toBe(masterKey);
  await server.close();
  expect(await allSealed()).toEqual(sealedBefore);
});

test("a key that is configured is not changed here", async () => {
  await using folder = await openTemporaryDirectory();
  await openMasterKey(folder.path, "secret");
  await expect(rotateMasterKey({ dataDir: folder.path })).rejects.toThrow("configured");
});

test("P13: no file of the data folder holds a secret in clear, before and after", async () => {
  await rotateMasterKey({ dataDir: server.dataDir });
  const files = await readdir(server.dataDir, { recursive: true, withFileTypes: true });
  for (const file of files.filter((entry) => entry.isFile())) {
    const text = await readFile(join(file.parentPath, file.name), "latin1");
    expect(text.includes("canary"), file.name).toBe(false);
  }
  expect(JSON.stringify(server.log)).not.toContain("canary");
});

/** Every sealed text opens with the box that a server would use now. */
async function expectOpened(count: number): Promise<void> {
  const box = await openSecretBox(join(server.dataDir, "master-key"));
  const plain = (await allSealed()).map((sealed) => box.unseal(sealed));
  expect(plain).toHaveLength(count);
  for (const text of plain) expect(text).toContain("canary");
}

async function allSealed(): Promise<string[]> {
  await using database = await openApplicationDatabase(server.dataDir);
  await using journal = await openJournal({ dataDir: server.dataDir });
  const settings = await database.tables.selectFrom("settings").select("sealed_document").execute();
  const secrets = await database.tables
    .selectFrom("secrets")
    .select("sealed_value")
    .orderBy("name")
    .execute();
  const { items } = await journal.searchConversations({ sort: "CREATED_AT", limit: 100 });
  return [
    ...settings.map((row) => row.sealed_document),
    ...secrets.map((row) => row.sealed_value),
    ...items.map((row) => row.sealedSecrets ?? ""),
  ];
}

/** By `table.column`: what is in every column of the data folder that is named `sealed_*`. */
async function sealedColumns(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  const files = await readdir(server.dataDir);
  for (const file of files.filter((name) => /\.(db|sqlite)$/.test(name))) {
    using database = new DatabaseSync(join(server.dataDir, file), { readOnly: true });
    const columns = database
      .prepare(
        `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
         WHERE t.type = 'table' AND c.name LIKE 'sealed%'`,
      )
      .all() as { table: string; column: string }[];
    for (const { table, column } of columns) {
      const rows = database
        .prepare(`SELECT ${column} AS text FROM ${table} WHERE ${column} IS NOT NULL`)
        .all();
      found[`${table}.${column}`] = rows.map(({ text }) => String(text));
    }
  }
  return found;
}
