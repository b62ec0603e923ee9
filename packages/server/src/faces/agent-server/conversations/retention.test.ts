import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RetentionPlan, TrashPage } from "@convoke/protocol";
import { expect, test } from "vitest";
import { readAudit } from "../../../testing/read-audit.ts";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const ids = {
  old: "11111111-1111-4111-8111-111111111111",
  tagged: "22222222-2222-4222-8222-222222222222",
  large: "33333333-3333-4333-8333-333333333333",
  held: "44444444-4444-4444-8444-444444444444",
} as const;

/** A conversation of the past: nothing happened in it since the beginning of the year. */
async function importOld(server: TestServer, id: string, text = "hi"): Promise<void> {
  const event = {
    id: id.replaceAll(id[0]!, "9"),
    timestamp: "2026-01-02T03:04:05.000006",
    source: "user",
    llm_message: { role: "user", content: [{ type: "text", text }] },
    kind: "MessageEvent",
  };
  const form = new FormData();
  form.set("file", new File([`${JSON.stringify(event)}\n`], `${id}.jsonl`));
  const reply = await fetch(`${server.url}/api/conversations/import`, {
    method: "POST",
    headers: { "X-Session-API-Key": server.key },
    body: form,
  });
  expect(await reply.text()).toContain('"imported"');
}

const trashOf = async (server: TestServer): Promise<TrashPage["items"]> =>
  (JSON.parse((await server.call("GET", "/api/trash")).text) as TrashPage).items;
const listed = async (server: TestServer): Promise<string[]> =>
  (await server.client.searchConversations()).items.map(({ id }) => id);

test("Retention by age, idle time, size and tag: dry run, hold, trash, deletion, and a record of it", async () => {
  await using server = await startTestServer({
    script: { loop: true, turns: [{ text: "Hello." }] },
  });
  const fresh = await server.runTo("finished", "new", { tags: { keep: "no" } });
  const waiting = await server.createConversation();
  for (const id of [ids.old, ids.held]) await importOld(server, id);
  await importOld(server, ids.large, "x".repeat(1_200_000));
  await importOld(server, ids.tagged);
  await server.call("PATCH", `/api/conversations/${ids.tagged}`, { tags: { state: "done" } });
  expect(
    (await server.call("PUT", `/api/conversations/${ids.held}/hold`, { reason: "audit 7" })).status,
  ).toBe(200);

  // Nothing is on by itself.
  const none = await server.call("GET", "/api/retention/plan");
  expect(JSON.parse(none.text)).toEqual({ matches: [], is_complete: true });
  const open = { name: "all", trash_days: 1 };
  expect((await server.call("PUT", "/api/retention", { rules: [open] })).status).toBe(422);
  expect((await server.call("PUT", "/api/retention", { rules: [{ name: "all" }] })).status).toBe(422);

  // A policy can be tried without being stored.
  expect((await server.call("POST", "/api/retention/plan", { rules: [open] })).status).toBe(422);
  const tried = await server.call("POST", "/api/retention/plan", {
    rules: [{ name: "large", larger_than_mib: 1 }],
  });
  expect(JSON.parse(tried.text)).toMatchObject({
    matches: [{ conversation_id: ids.large, rule: "large", stays_because: null }],
  });
  expect(JSON.parse((await server.call("GET", "/api/retention")).text)).toMatchObject({
    policy: { rules: [] },
  });

  const rules = [
    { name: "aged", older_than_days: 100, larger_than_mib: 1 },
    { name: "done", tag: { key: "state", value: "done" } },
    { name: "unused", idle_days: 100 },
  ];
  expect((await server.call("PUT", "/api/retention", { rules, trash_days: 1 })).status).toBe(200);
  const plan = JSON.parse((await server.call("GET", "/api/retention/plan")).text) as RetentionPlan;
  const found = plan.matches.map(({ conversation_id: id, rule, stays_because: stays }) => [id, rule, stays]);
  expect(new Set(found)).toEqual(
    new Set([
      [ids.large, "aged", null],
      [ids.tagged, "done", null],
      [ids.held, "unused", "on hold: audit 7"],
      [ids.old, "unused", null],
    ]),
  );
  const of = (id: string) => plan.matches.find((match) => match.conversation_id === id)!;
  expect(of(ids.large).why).toMatch(/days old, 1\.1 MiB/);
  expect(of(ids.large).facts).toEqual({ age_days: expect.any(Number), size_mib: expect.closeTo(1.1, 1) });
  expect(of(ids.tagged).facts).toEqual({ tag: { key: "state", value: "done" } });
  expect(of(ids.held)).toMatchObject({ stays: "held", hold_reason: "audit 7" });
  expect(of(ids.old)).toMatchObject({ stays: null, hold_reason: null });
  // A dry run changes nothing.
  expect((await listed(server)).toSorted()).toEqual([...Object.values(ids), fresh, waiting.id].toSorted());

  await server.restart({ retentionSeconds: 1 });
  await expect.poll(async () => (await trashOf(server)).length, { timeout: 30_000 }).toBe(3);
  expect((await listed(server)).toSorted()).toEqual([ids.held, fresh, waiting.id].toSorted());
  for (const path of ["", "/events/search", "/transcript"])
    expect((await server.call("GET", `/api/conversations/${ids.old}${path}`)).status, path).toBe(404);
  expect(JSON.parse((await server.call("GET", "/api/conversations/count")).text)).toBe(3);

  const deleted = await server.call("DELETE", `/api/conversations/${ids.held}`);
  expect(deleted.status).toBe(409);
  expect(deleted.text).toContain("audit 7");
  expect((await server.call("POST", `/api/conversations/${ids.held}/trash`)).status).toBe(409);

  // A hold counts in the trash as well.
  await server.call("PUT", `/api/conversations/${ids.tagged}/hold`, {});
  expect((await server.call("DELETE", `/api/trash/${ids.tagged}`)).status).toBe(409);
  await server.restart({ retentionSeconds: 86_400 });
  expect((await server.call("PUT", "/api/retention", { rules: [] })).status).toBe(200);
  expect((await server.call("POST", `/api/trash/${ids.large}/restore`)).status).toBe(200);
  expect(await listed(server)).toContain(ids.large);
  expect((await server.eventTexts(ids.large)).length).toBeGreaterThan(1);
  const emptied = await server.call("POST", "/api/trash/empty");
  expect(JSON.parse(emptied.text)).toEqual({ deleted: 1, held: 1, left: false });
  expect((await trashOf(server)).map((entry) => entry.conversation_id)).toEqual([ids.tagged]);
  expect((await server.call("POST", `/api/trash/${ids.old}/restore`)).status).toBe(404);

  await server.close();
  const record = (await readAudit(server.dataDir)).calls.filter((line) => line["who"] === "retention");
  expect(new Set(record.map(({ conversation, act, rule }) => [conversation, act, rule]))).toEqual(
    new Set([
      [ids.large, "trashed", "aged"],
      [ids.tagged, "trashed", "done"],
      [ids.old, "trashed", "unused"],
    ]),
  );
});

test("Retention: what was in the trash long enough is deleted, by the policy of the server for everybody", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "convoke-retention-"));
  const file = join(folder.path, "retention.json");
  const rules = [{ name: "old", older_than_days: 30 }];
  await writeFile(file, JSON.stringify({ rules, trash_days: 0 }));
  await using server = await startTestServer({});
  await importOld(server, ids.old);
  await server.restart({ retentionFile: file, retentionSeconds: 1 });
  await expect
    .poll(
      async () =>
        (await readAudit(server.dataDir)).calls
          .filter((line) => line["who"] === "retention")
          .map(({ act, conversation }) => [act, conversation]),
      { timeout: 30_000 },
    )
    .toEqual([
      ["trashed", ids.old],
      ["deleted", ids.old],
    ]);
  expect(await listed(server)).toEqual([]);
  expect(await trashOf(server)).toEqual([]);
  await importOld(server, ids.old, "the id is free again");
});

test("Retention never takes a conversation that works or waits for an approval", async () => {
  const call = { name: "terminal", arguments: { command: "echo made" } };
  await using server = await startTestServer({ script: { turns: [{ tool_calls: [call] }] } });
  const id = await server.runTo("waiting_for_confirmation", "Make it.", {
    confirmation_policy: { kind: "AlwaysConfirm" },
  });
  await server.call("PUT", "/api/retention", { rules: [{ name: "all", idle_days: 0 }] });
  const plan = JSON.parse((await server.call("GET", "/api/retention/plan")).text) as RetentionPlan;
  expect(plan.matches).toMatchObject([
    { conversation_id: id, stays_because: "it waits for an approval", stays: "waiting_for_confirmation" },
  ]);
  const refused = await server.call("POST", `/api/conversations/${id}/trash`);
  expect(refused.status).toBe(409);
  expect(refused.text).toContain("conversation_working");
  expect(await listed(server)).toEqual([id]);
});
