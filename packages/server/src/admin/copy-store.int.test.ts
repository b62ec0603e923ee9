import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copyStore, type CopyPlace, type CopyResult } from "./copy-store.ts";
import { copiedTables } from "./copy-tables.ts";
import { openPostgresApplicationDatabase } from "../database/postgres/postgres-application-database.ts";
import { openApplicationDatabase } from "../database/sqlite-application-database.ts";
import { openJournal } from "../journal/open-journal.ts";
import { silentLogger } from "../lib/logger.ts";
import { openKeyStore } from "../settings/open-stores.ts";
import { probePostgres, startPostgres, type TestPostgres } from "../testing/start-postgres.ts";
import { startTestServer } from "../testing/start-server.ts";

const probe = probePostgres();
const masterSecret = "the secret of all servers";
const longMs = 60_000;

describe.skipIf(!probe.isUsable)(
  `copies between a folder and PostgreSQL (${probe.detail})`,
  { timeout: 300_000 },
  () => {
    let server: TestPostgres;
    beforeAll(async () => {
      server = await startPostgres();
    });
    afterAll(async () => {
      await server[Symbol.asyncDispose]();
    });

    const copy = async (from: CopyPlace, to: CopyPlace): Promise<CopyResult> =>
      await copyStore({ from, to, masterSecret, logger: silentLogger, onProgress: () => {} });

    test("data copied from a folder to a database and back to a folder is the same", async () => {
      await using first = await startTestServer({ script: { turns: [{ text: "Found it." }] } });
      const message = { content: [{ type: "text" as const, text: "Look for the comet." }], run: true };
      const { id } = await first.createConversation();
      const eventId = await first.client.sendMessage(id, { ...message, client_message_id: "m-1" });
      await first.waitForStatus(id, "finished", longMs);
      await first.call("PUT", "/api/settings/secrets", { name: "TOKEN", value: "a secret value" });
      const { key, keyId } = await createKey(first.dataDir);
      const events = await first.eventTexts(id);
      const folder = { dataDir: first.dataDir };
      const database = { database: { url: await server.createDatabase(), nodeAddress: null } };
      await expect(copy(folder, database)).rejects.toThrow("Stop it first");
      await first.close();
      const copied = await copy(folder, database);
      expect(copied).toMatchObject({
        conversations: 1,
        events: events.length,
        differing: [],
        conflicts: [],
        unopened: 0,
      });
      expect(await copy(folder, database)).toEqual({ ...copied, added: 0 });

      await using second = await startTestServer({ config: { ...database, masterSecret } });
      await expect(copy(folder, database)).rejects.toThrow("Servers work on the database");
      expect(await second.eventTexts(id)).toEqual(events);
      expect((await second.call("GET", "/api/settings/secrets/TOKEN")).text).toBe("a secret value");
      const headers = { "X-Session-API-Key": key };
      expect((await second.call("GET", "/api/conversations/count", undefined, headers)).status).toBe(200);
      expect(await second.client.sendMessage(id, { ...message, client_message_id: "m-1" })).toBe(eventId);
      await second.call("PUT", "/api/settings/secrets", { name: "TOKEN", value: "a newer value" });
      await second.close();
      await expect(copy({ dataDir: second.dataDir }, folder)).rejects.toThrow(
        "keep everything in the database",
      );

      await using place = await openTemporaryDirectory();
      const back = { dataDir: join(place.path, "data") };
      expect(await copy(database, back)).toMatchObject({ conversations: 1, differing: [], conflicts: [] });
      // What the newer store has is not written over.
      expect(await copy(folder, database)).toMatchObject({
        added: 0,
        differing: [`keys ${keyId}`, "secrets local TOKEN"],
      });
      await using third = await startTestServer({ config: { dataDir: back.dataDir, masterSecret } });
      expect(await third.eventTexts(id)).toEqual(events);
      expect((await third.call("GET", "/api/settings/secrets/TOKEN")).text).toBe("a newer value");
    });

    test("a copy that was killed is started again, also where all servers were killed", async () => {
      await using first = await startTestServer();
      const { id } = await first.createConversation();
      await first.close();
      const url = await server.createDatabase();
      const folder = { dataDir: first.dataDir };
      const database = { database: { url, nodeAddress: null } };
      await copy(folder, database);
      // As `kill -9` leaves them: their rows are alive, and no heartbeats are sent or counted.
      const dead = ["killed-copy", "killed-server"];
      await ask(url, `INSERT INTO convoke.nodes (id) VALUES ${dead.map((name) => `('${name}')`).join(", ")}`);
      expect(await copy(folder, database)).toMatchObject({ conversations: 1, added: 0, conflicts: [] });
      const left = await ask(url, "SELECT id FROM convoke.nodes WHERE dead_at IS NULL");
      expect(left).toEqual([]);
      expect(id).toBeTypeOf("string");
    });

    test("values that a database cannot hold unchanged are named", async () => {
      await using first = await startTestServer();
      const { id } = await first.createConversation();
      await first.call("PUT", "/api/settings/secrets", { name: "TOKEN", value: "whole" });
      await first.close();
      await using place = await openTemporaryDirectory();
      {
        await using journal = await openJournal({ dataDir: first.dataDir });
        const lease = await journal.claim(id);
        const { lastSeq } = (await journal.getConversation(id))!;
        const conversation = { title: "half \ud83d of a title\0" };
        await journal.append(lease, { expectedSeq: lastSeq, events: [], conversation });
        await journal.release(lease);
        await using tables = await openApplicationDatabase(first.dataDir);
        const rows = await tables.tables.selectFrom("secrets").selectAll().execute();
        await tables.tables
          .insertInto("secrets")
          .values({ ...rows[0]!, name: "NUL\0" })
          .execute();
      }
      const folder = { dataDir: first.dataDir };
      const url = await server.createDatabase();
      expect(await copy(folder, { database: { url, nodeAddress: null } })).toMatchObject({
        conversations: 1,
        changed: [expect.stringContaining(`${id} has another title`)],
        conflicts: [expect.stringContaining("secrets")],
      });
      // From folder to folder nothing is changed.
      const other = { dataDir: join(place.path, "data") };
      expect(await copy(folder, other)).toMatchObject({ conversations: 1, changed: [], conflicts: [] });
    });

    test("every table of the application is copied but that of sandboxes, which stay on their machines", async () => {
      await using place = await openTemporaryDirectory();
      await using database = await openApplicationDatabase(place.path);
      const names = (await database.tables.introspection.getTables()).map(({ name }) => name);
      expect(new Set(copiedTables)).toEqual(new Set(names.filter((name) => name !== "sandboxes")));
    });

    test("numbers of messages that wait go on from the highest that was copied", async () => {
      await using place = await openTemporaryDirectory();
      const from = join(place.path, "data");
      await using journalOnly = await startTestServer({ config: { dataDir: from } });
      await journalOnly.close();
      const pending = { id: "one", conversation_id: "c", message: "{}" };
      {
        await using tables = await openApplicationDatabase(from);
        await tables.tables
          .insertInto("pending_messages")
          .values({ ...pending, number: 7 })
          .execute();
      }
      const url = await server.createDatabase();
      await copy({ dataDir: from }, { database: { url, nodeAddress: null } });
      await using database = await openPostgresApplicationDatabase(url, silentLogger);
      await database.tables
        .insertInto("pending_messages")
        .values({ ...pending, id: "two" })
        .execute();
      const rows = await database.tables.selectFrom("pending_messages").selectAll().execute();
      expect(rows.map(({ number }) => number).toSorted((one, other) => one - other)).toEqual([7, 8]);
    });
  },
);

async function ask(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

async function createKey(dataDir: string): Promise<{ key: string; keyId: string }> {
  await using keys = await openKeyStore(dataDir);
  const { key, entry } = await keys.store.create("ada", "laptop");
  return { key, keyId: entry.id };
}
