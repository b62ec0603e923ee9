import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openTemporaryDirectory } from "@convoke/tool-host/testing";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "./config.ts";
import { silentLogger } from "../lib/logger.ts";
import { openStore } from "./open-store.ts";
import { holdAnswers } from "../testing/hold-answers.ts";
import { probePostgres, startPostgres, type TestPostgres } from "../testing/start-postgres.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../testing/start-server.ts";
import { TestSocket } from "../testing/test-socket.ts";

const probe = probePostgres();
const masterSecret = "the secret of all servers";
/** For steps that take milliseconds on a quiet machine. */
const longMs = 60_000;
const say = (text: string) => ({ content: [{ type: "text" as const, text }], run: true });

describe.skipIf(!probe.isUsable)(`a server on PostgreSQL (${probe.detail})`, { timeout: 300_000 }, () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  async function startOn(url: string, options: TestServerOptions = {}): Promise<TestServer> {
    const config = { database: { url, nodeAddress: null }, masterSecret, ...options.config };
    return await startTestServer({ ...options, config });
  }

  test("conversations, settings and secrets are kept in the database, and are there after a restart", async () => {
    const url = await server.createDatabase();
    await using first = await startOn(url, {
      script: { turns: [{ text: "Found it." }, { text: "Again." }] },
    });
    const { id } = await first.createConversation({ text: "Look for the comet." });
    await first.waitForStatus(id, "finished", longMs);
    await first.call("PUT", "/api/settings/secrets", { name: "TOKEN", value: "a secret value" });
    await first.call("PATCH", "/api/settings", { agent_settings_diff: { llm: { model: "openai/kept" } } });
    const events = await first.eventTexts(id);
    expect(events.length).toBeGreaterThan(2);
    await first.restart();
    expect(await first.eventTexts(id)).toEqual(events);
    expect((await first.call("GET", "/api/settings/secrets/TOKEN")).text).toBe("a secret value");
    expect((await first.call("GET", "/api/settings")).text).toContain("openai/kept");
    await first.client.sendMessage(id, say("Once more."));
    await first.waitForStatus(id, "finished", longMs);
    expect(first.model.requests).toHaveLength(2);
    const headers = { "x-session-api-key": first.key };
    using socket = new TestSocket(`${first.url}/sockets/events/${id}?resend_mode=all`, { headers });
    const stored = await first.eventTexts(id);
    await socket.until((frames) => frames.filter(({ kind }) => kind === "MessageEvent").length === 4, longMs);
    const ids = stored.map((text) => (JSON.parse(text) as { id: string }).id);
    expect(
      socket.events.flatMap((frame) => (ids.includes(String(frame["id"])) ? [frame["id"]] : [])),
    ).toEqual(ids);
    const files = await readdir(first.dataDir);
    expect(files.filter((name) => name.includes("journal") || name.includes("application"))).toEqual([]);
    expect(files).toContain("database");
  });

  test("P1, P27: every node answers and follows; a command is carried out by the owner of the conversation", async () => {
    const url = await server.createDatabase();
    const { wrapModel, release } = holdAnswers();
    await using owner = await startOn(url, {
      script: { turns: [{ text: "One." }, { text: "Two." }] },
      wrapModel,
    });
    await using other = await startOn(url, { config: { workspaceRoot: owner.workspaceDir } });
    const { id } = await owner.createConversation({ text: "first" });
    await owner.waitForStatus(id, "running", longMs);
    const headers = { "x-session-api-key": other.key };
    using socket = new TestSocket(`${other.url}/sockets/events/${id}?resend_mode=all`, { headers });
    await socket.untilCount(1, longMs);
    await other.client.sendMessage(id, say("second"));
    await other.client.updateConversation(id, { title: "Named elsewhere" });
    expect((await owner.client.getConversation(id)).title).toBe("Named elsewhere");
    release();
    await other.waitForStatus(id, "finished", longMs);
    expect(other.model.requests).toEqual([]);
    const stored = await owner.events(id);
    expect(await other.events(id)).toEqual(stored);
    const last = stored.at(-1)!.id;
    await socket.until((frames) => frames.some((frame) => frame["id"] === last), longMs);
    const seen = socket.events.map((frame) => frame["id"]);
    expect(seen.filter((one) => stored.some((event) => event.id === one))).toEqual(
      stored.map((event) => event.id),
    );
    const { nodes } = (await other.call("GET", "/api/nodes")).json as { nodes: Record<string, unknown>[] };
    expect(nodes.map(({ address, is_self: isSelf }) => [address, isSelf])).toEqual([
      [owner.url, false],
      [other.url, true],
    ]);
    await other.client.deleteConversation(id);
    await expect(owner.client.getConversation(id)).rejects.toMatchObject({ status: 404 });
  });

  test("P27: a node that was declared dead releases what it owns and continues under a new id", async () => {
    const url = await server.createDatabase();
    await using owner = await startOn(url, { script: { turns: [{ text: "One." }, { text: "Two." }] } });
    const { id } = await owner.createConversation({ text: "first" });
    await owner.waitForStatus(id, "finished", longMs);
    await ask(url, "UPDATE convoke.nodes SET dead_at = now()");
    await expect
      .poll(() => owner.log.map(({ message }) => message).join())
      .toContain("fenced after missed heartbeats");
    await owner.client.sendMessage(id, say("second"));
    await owner.waitForStatus(id, "finished", longMs);
    expect(owner.model.requests).toHaveLength(2);
  });

  test("a restart does not wait for the heartbeat timeout of the process before it", async () => {
    const url = await server.createDatabase();
    const { wrapModel, release } = holdAnswers();
    await using owner = await startOn(url, { script: { turns: [{ text: "One." }] }, wrapModel });
    const { id } = await owner.createConversation({ text: "first" });
    await owner.waitForStatus(id, "running", longMs);
    release();
    await owner.close();
    // As a killed process leaves it: its row is alive, its lock is free.
    const [node] = await ask(url, "UPDATE convoke.nodes SET dead_at = NULL RETURNING id");
    const nodeId = String(node!["id"]);
    await ask(url, `UPDATE convoke.heads SET node_id = '${nodeId}', is_active = true`);
    await writeFile(join(owner.dataDir, "nodes", "killed.node"), nodeId);
    await owner.restart();
    const [row] = await ask(url, `SELECT dead_at FROM convoke.nodes WHERE id = '${nodeId}'`);
    expect(row!["dead_at"]).not.toBeNull();
    await owner.client.updateConversation(id, { title: "Taken at once" });
  });

  test("P3: another secret key, none, or a folder with a store of its own is refused before anything is served", async () => {
    const url = await server.createDatabase();
    await using folder = await openTemporaryDirectory();
    const { dataDir, ...config } = readConfig({}, { dataDir: join(folder.path, "data") });
    const open = async (more: object): Promise<unknown> =>
      await openStore({ ...config, dataDir, masterSecret, logger: silentLogger, ...more });
    const database = { url, nodeAddress: null };
    await expect(open({ database, masterSecret: null })).rejects.toThrow("CONVOKE_SECRET_KEY");
    await using first = await startOn(url);
    await expect(open({ database, masterSecret: "another" })).rejects.toThrow("not the one");
    await expect(open({ dataDir: first.dataDir })).rejects.toThrow(/keep everything in the database test_/);
    await using own = await startTestServer();
    await expect(open({ database, dataDir: own.dataDir })).rejects.toThrow("of its own");
  });

  test("tables that a newer release has extended are used, unless it excludes this release", async () => {
    const url = await server.createDatabase();
    await using first = await startOn(url);
    await ask(url, "INSERT INTO convoke.kysely_migration VALUES ('9999-newer', now()::text)");
    await ask(url, "UPDATE convoke.parts SET version = 99 WHERE name = 'application tables'");
    await first.restart();
    await using second = await startOn(url);
    expect((await second.call("GET", "/api/settings")).status).toBe(200);
    await ask(url, "UPDATE convoke.parts SET oldest = 98 WHERE name = 'application tables'");
    await expect(startOn(url)).rejects.toThrow(
      'The part "application tables" of the database has format 99, which versions from format 98 on work with.',
    );
  });

  test("what cannot be reached or used is named, without the password", async () => {
    const { hostname, port } = new URL("postgres://127.0.0.1:1/");
    const url = `postgres://someone:hunter2@${hostname}:${port}/place`;
    await using folder = await openTemporaryDirectory();
    const config = readConfig(
      { CONVOKE_DATABASE: url, CONVOKE_SECRET_KEY: masterSecret },
      { dataDir: folder.path },
    );
    const failure = await openStore({ ...config, logger: silentLogger }).catch((error: unknown) => error);
    expect(String(failure)).toBe(
      "ConfigError: The database place at 127.0.0.1:1 cannot be used: nobody listens there.",
    );
    const missing = new URL(await server.createDatabase());
    missing.pathname = "/no_such_database";
    const database = { url: missing.href, nodeAddress: null };
    await expect(openStore({ ...config, database, logger: silentLogger })).rejects.toThrow(
      'database "no_such_database" does not exist',
    );
  });
});

async function ask(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}
