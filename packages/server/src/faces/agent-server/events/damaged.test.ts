import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const always = { confirmation_policy: { kind: "AlwaysConfirm" } } as const;
const script = {
  turns: [
    {
      match: { last_user_contains: "risky" },
      tool_calls: [{ name: "terminal", arguments: { command: "a" } }],
    },
    { text: "Done." },
  ],
  loop: true,
};

const notJson = "\u0000\u0000\u0000";

/** What is overwritten: a column of an event, counted from the end of the log, or of the conversation. */
const change = (value: string) => ({ column: "json", value });
const damages: Readonly<Record<string, { column: string; value: string; back?: number; table?: string }>> = {
  "an event without a time": change(
    '{"kind":"ConversationStateUpdateEvent","key":"execution_status","value":"finished"}',
  ),
  "an event that is not JSON": change(notJson),
  "an event that is null": change("null"),
  "an event of no kind": change('{"kind":7}'),
  "an event of a kind that nobody knows": {
    ...change('{"kind":"Nonsense","timestamp":"2026-01-01T00:00:00"}'),
    back: 1,
  },
  "an event that is cut off": { ...change('{"kind":"MessageEvent","llm_mess'), back: 3 },
  "an event without its fields": { ...change('{"kind":"MessageEvent","source":"user"}'), back: 3 },
  "a note beside an event": { column: "meta", value: "{", back: 3 },
  "a snapshot": { table: "conversation_documents", column: "snapshot", value: '{"version":6,"sta' },
  "a snapshot that is null": { table: "conversation_documents", column: "snapshot", value: "null" },
  "a configuration": { table: "conversation_documents", column: "config", value: '{"agent":' },
  "a configuration without an agent": { table: "conversation_documents", column: "config", value: "{}" },
  secrets: { table: "conversation_documents", column: "sealed_secrets", value: "nothing sealed" },
};

function damage(server: TestServer, id: string, what: string): void {
  const { column, value, back = 0, table } = damages[what]!;
  using database = new DatabaseSync(join(server.dataDir, "journal.db"));
  const { number } = database.prepare("SELECT number FROM conversations WHERE id = ?").get(id) as {
    number: number;
  };
  if (table !== undefined) {
    database.prepare(`UPDATE ${table} SET ${column} = ? WHERE number = ?`).run(value, number);
    return;
  }
  // Nothing but the log is left, as after a restart of an older release.
  database.prepare("UPDATE conversation_documents SET snapshot = NULL WHERE number = ?").run(number);
  const [from, to] = [number * 2 ** 28, (number + 1) * 2 ** 28];
  for (const events of ["events", "recent"]) {
    const rows = database
      .prepare(`SELECT position FROM ${events} WHERE position BETWEEN ? AND ? ORDER BY position DESC`)
      .all(from, to);
    const row = rows[back];
    if (row === undefined) continue;
    database.prepare(`UPDATE ${events} SET ${column} = ? WHERE position = ?`).run(value, row["position"]!);
    return;
  }
}

test(
  "P7, P8, P38: whatever of a conversation is damaged, everything of the others is listed, counted, searched and read",
  { timeout: 240_000 },
  async () => {
    await using server = await startTestServer({ script });
    const healthy = await server.runTo("finished", "hello");
    const waiting = await server.runTo("waiting_for_confirmation", "risky", always);
    const damaged = new Map(
      await Promise.all(
        Object.keys(damages).map(async (what) => [what, await server.runTo("finished", what)] as const),
      ),
    );
    const list = "/api/conversations/search?limit=100";
    const before = (await server.call("GET", list)).json as { items: { id: string }[] };
    const events = (await server.eventTexts(healthy)).length;
    await server.close();
    for (const [what, id] of damaged) damage(server, id, what);
    await server.restart();

    const all = [...damaged.values(), healthy, waiting];
    const listed = await server.call("GET", list);
    expect(listed.status, listed.text).toBe(200);
    const { items } = listed.json as { items: { id: string; execution_status: string }[] };
    expect(items.map(({ id }) => id)).toEqual(before.items.map(({ id }) => id));
    expect(items.filter(({ execution_status: status }) => status === "running")).toEqual([]);
    const byStatus = await server.call(
      "GET",
      "/api/conversations/search?status=finished&sort_order=UPDATED_AT",
    );
    expect((byStatus.json as { items: object[] }).items).toHaveLength(all.length - 1);
    expect((await server.call("GET", "/api/conversations/count")).json).toBe(all.length);
    const batch = await server.call("GET", `/api/conversations?${all.map((id) => `ids=${id}`).join("&")}`);
    expect(batch.status, batch.text).toBe(200);
    expect((batch.json as { id: string }[]).map(({ id }) => id)).toEqual(all);
    const approvals = await server.call("GET", "/api/approvals");
    expect((approvals.json as { items: object[] }).items).toHaveLength(1);
    for (const path of ["/api/v1/app-conversations/search", "/api/v1/app-conversations/count"])
      expect((await server.call("GET", path)).status, path).toBe(200);
    expect(await server.eventTexts(healthy)).toHaveLength(events);

    for (const [what, id] of damaged) {
      const path = `/api/conversations/${id}`;
      expect((await server.call("GET", path)).status, what).toBe(200);
      for (const beside of ["/spend", "/approvals"])
        expect((await server.call("GET", `${path}${beside}`)).status, `${what}: ${beside}`).toBe(200);
      const count = await server.call("GET", `${path}/events/count`);
      const page = await server.call("GET", `${path}/events/search?limit=100`);
      expect(page.status, what).toBe(200);
      const shown = (page.json as { items: { id?: string; code?: string }[] }).items;
      expect(shown, what).toHaveLength(count.json as number);
      const marked = shown.filter(({ code }) => code === "EventDamaged");
      expect(marked, what).toHaveLength(damages[what]!.column === "json" ? 1 : 0);
      for (const { id: eventId } of marked) {
        const one = await server.call("GET", `${path}/events/${eventId}`);
        expect(one.json).toMatchObject({ code: "event_damaged" });
        expect((await server.call("GET", `${path}/events?ids=${eventId}`)).json).toMatchObject([
          { id: eventId, code: "EventDamaged" },
        ]);
      }
      // Either it still works, or it says by name why not; nothing else is a fault of the server.
      const run = await server.call("POST", `${path}/run`);
      const codes = ["event_damaged", "conversation_damaged", "secrets_unreadable"];
      if (run.status !== 200) expect(codes, what).toContain((run.json as { code: string }).code);
      if (what.includes("snapshot")) expect(run.status, what).toBe(200);
    }
    for (const [what, id] of damaged)
      expect((await server.call("DELETE", `/api/conversations/${id}`)).status, what).toBe(200);
    expect((await server.call("GET", "/api/conversations/count")).json).toBe(2);
  },
);
