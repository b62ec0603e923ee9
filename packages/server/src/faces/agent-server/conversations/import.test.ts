import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { ImportReport, ImportResult } from "@convoke/protocol";
import { tarEntries } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

const golden = new URL("../../../imports/golden/", import.meta.url);
const archive = readFileSync(new URL("openhands-1.58.2.tar.gz", golden));
const ids = JSON.parse(readFileSync(new URL("openhands-1.58.2.json", golden), "utf8")) as Record<
  string,
  string
>;

type SourceFile = { readonly name: string; readonly text: string };

async function readGolden(): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for await (const { name, content } of tarEntries(chunksOf(gunzipSync(archive)))) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    files.push({ name, text: Buffer.concat(chunks).toString("utf8") });
  }
  return files;
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function send(
  server: TestServer,
  content: Uint8Array | string,
  { name = "conversations.tar.gz", query = "" } = {},
): Promise<{ status: number; body: ImportReport & Record<string, unknown> }> {
  const form = new FormData();
  form.set("file", new File([content as Uint8Array<ArrayBuffer> | string], name));
  const reply = await fetch(`${server.url}/api/conversations/import${query}`, {
    method: "POST",
    headers: { "X-Session-API-Key": server.key },
    body: form,
  });
  return { status: reply.status, body: (await reply.json()) as ImportReport & Record<string, unknown> };
}

const jsonl = (...events: object[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join("");
const only = ({ body }: { readonly body: ImportReport }): ImportResult => body.results[0]!;

type Read = { id: string; timestamp: string; source: string; kind: string; parent_id?: string };

async function eventsOf(server: TestServer, id: string): Promise<Read[]> {
  return (await server.eventTexts(id)).map((text) => JSON.parse(text) as Read);
}

const settings = (server: TestServer): Promise<unknown> =>
  server.call("PATCH", "/api/settings", {
    agent_settings_diff: {
      llm: {
        model: "openai/scripted",
        base_url: `${server.model.url}/v1`,
        api_key: "llm-key",
        num_retries: 0,
      },
    },
  });

test("Import: 20 conversation folders written by the reference's server are imported, searched and continued", async () => {
  await using server = await startTestServer({
    script: { loop: true, turns: [{ text: "It goes on here." }] },
  });
  await settings(server);
  const dry = await send(server, archive, { query: "?dry_run=true" });
  expect(dry.body.results.map(({ status }) => status)).toEqual(
    Array.from({ length: 20 }, () => "would_import"),
  );
  expect((await server.client.searchConversations()).items).toEqual([]);

  const { status, body } = await send(server, archive);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.results.filter((result) => result.status !== "imported")).toEqual([]);
  expect(new Set(body.results.map((result) => result.conversation_id))).toEqual(new Set(Object.values(ids)));

  const files = await readGolden();
  for (const [name, id] of Object.entries(ids)) {
    const folder = id.replaceAll("-", "");
    const source = files
      .filter((file) => file.name.startsWith(`${folder}/events/event-`))
      .toSorted((left, right) => (left.name < right.name ? -1 : 1))
      .map(({ text }) => JSON.parse(text) as Read);
    const here = await eventsOf(server, id);
    // Every event in its place: what it is, when it was, who it came from.
    const plain = ({ kind, timestamp, source: from }: Read): string => `${kind} ${timestamp} ${from}`;
    expect(here.slice(0, source.length).map(plain), name).toEqual(source.map(plain));
    // Those behind are events of this server, the last of which tells of the import.
    expect(here.at(-1), name).toMatchObject({ key: "imported", value: { id, events: source.length } });
    // Ids are others, and what named an event names it still.
    const newIds = new Map(source.map(({ id: old }, index) => [old, here[index]!.id]));
    expect([...newIds.values()], name).toEqual([...newIds.values()].toSorted());
    expect(
      here.slice(0, source.length).map((event) => event.parent_id),
      name,
    ).toEqual(
      source.map(({ parent_id: parent }) =>
        parent === undefined ? undefined : (newIds.get(parent) ?? parent),
      ),
    );
    const whole = (await server.eventTexts(id)).join("\n");
    for (const secret of ["golden-secret-value-77", "sk-golden-model-key", "gAAAAABrC"])
      expect(whole).not.toContain(secret);
    for (const old of newIds.keys()) expect(whole, name).not.toContain(old);
  }

  const info = await server.client.getConversation(ids["plain"]!);
  expect(info).toMatchObject({ title: "A plain talk", tags: { team: "harbour", state: "done" } });
  expect(info.created_at).toMatch(/^2026-11-28T0/);
  expect(info.execution_status).toBe("finished");

  // Found by their texts.
  await expect
    .poll(
      async () => {
        const found = await server.call("GET", "/api/search?q=harbour%20master");
        return found.text;
      },
      { timeout: 30_000 },
    )
    .toContain(ids["plain"]!);

  for (const [name, id] of Object.entries(ids)) {
    const before = (await server.eventTexts(id)).length;
    await server.client.sendMessage(id, { content: [{ type: "text", text: "Go on, please." }], run: true });
    await expect
      .poll(async () => (await server.client.getConversation(id)).execution_status, { timeout: 30_000 })
      .toBe("finished");
    const added = (await eventsOf(server, id)).slice(before);
    expect(
      added.map(({ kind }) => kind),
      name,
    ).toContain("MessageEvent");
    expect(JSON.stringify(added), name).toContain("It goes on here.");
  }

  // The same again changes nothing, although the conversations have gone on.
  const again = await send(server, archive);
  expect(new Set(again.body.results.map((result) => result.status))).toEqual(new Set(["unchanged"]));
});

test("Import: what the model reads of an imported conversation is its branch, and every call in it has a result", async () => {
  await using server = await startTestServer({ script: { loop: true, turns: [{ text: "Here." }] } });
  await settings(server);
  await send(server, archive);
  const ask = async (name: string): Promise<string> => {
    await server.client.sendMessage(ids[name]!, { content: [{ type: "text", text: "Next." }], run: true });
    await expect
      .poll(async () => (await server.client.getConversation(ids[name]!)).execution_status, {
        timeout: 30_000,
      })
      .toBe("finished");
    return JSON.stringify(server.model.requests.at(-1)?.body);
  };
  const branched = await ask("branched");
  expect(branched).toContain("The first question.");
  expect(branched).toContain("A question on the other branch.");
  expect(branched).not.toContain("A question on the branch that is left.");
  expect(await ask("waiting")).toContain("It was not run here.");
  expect(await ask("parallel")).toContain("by the agent");
  expect(await ask("hooked")).toContain("it ran");
  const fork = await server.call("POST", `/api/conversations/${ids["branched"]}/fork`, {});
  expect(fork.status, fork.text).toBe(201);
});

test("Import: what this server exports comes back as it was, as zip and as JSONL, with other ids where they are wished for", async () => {
  await using server = await startTestServer({ script: { loop: true, turns: [{ text: "Hello." }] } });
  await settings(server);
  const id = await server.runTo("finished", "hi", { title: "To and fro", tags: { a: "b" } });
  const before = await server.eventTexts(id);
  const download = async (path: string): Promise<Uint8Array> => {
    const reply = await fetch(`${server.url}${path}`, { headers: { "X-Session-API-Key": server.key } });
    return new Uint8Array(await reply.arrayBuffer());
  };
  const zip = await download(`/api/file/download-trajectory/${id}`);
  const lines = await download(`/api/conversations/${id}/transcript?format=jsonl`);
  expect(only(await send(server, zip, { name: `${id}.zip` }))).toMatchObject({
    status: "unchanged",
    conversation_id: id,
  });
  await server.call("DELETE", `/api/conversations/${id}`);
  for (const [name, content] of [
    ["x.zip", zip],
    [`${id}.jsonl`, lines],
  ] as const) {
    expect(only(await send(server, content, { name }))).toMatchObject({
      status: "imported",
      conversation_id: id,
    });
    expect((await server.eventTexts(id)).slice(0, before.length)).toEqual(before);
    const info = await server.client.getConversation(id);
    if (name === "x.zip") expect(info).toMatchObject({ title: "To and fro", tags: { a: "b" } });
    await server.call("DELETE", `/api/conversations/${id}`);
  }
  const other = only(await send(server, zip, { name: "x.zip", query: "?new_ids=true" }));
  expect(other.status).toBe("imported");
  expect(other.conversation_id).not.toBe(id);
});

const message = (id: string, more: object = {}): object => ({
  id,
  timestamp: "2026-01-02T03:04:05.000006",
  source: "user",
  llm_message: { role: "user", content: [{ type: "text", text: "hi" }] },
  kind: "MessageEvent",
  ...more,
});
const first = "3f0a6f6e-5a3b-4d7a-9b52-0d0f3f6c1a01";

const refused: readonly [what: string, events: string, field: string | null, says: RegExp][] = [
  ["an id that is none", jsonl(message("nobody")), "id", /id in a.jsonl, line 1 is not a UUID/],
  ["an id twice", jsonl(message(first), message(first)), "id", /is that of a.jsonl, line 1 as well/],
  ["a time that is none", jsonl(message(first, { timestamp: "soon" })), "timestamp", /not a date and time/],
  ["a message without its content", jsonl(message(first, { llm_message: 1 })), "llm_message", /MessageEvent/],
  [
    "a number that would be another one",
    jsonl(message(first)).replace('"hi"', "12345678901234567890"),
    null,
    /12345678901234567890/,
  ],
  ["deep nesting", `${"[".repeat(5000)}${"]".repeat(5000)}\n`, null, /nested more than 128 levels/],
  ["half an event", jsonl(message(first)).slice(0, 40), null, /is not JSON/],
];

test("Import: what is wrong in a source is refused by file and field, and nothing of it is stored", async () => {
  await using server = await startTestServer({});
  for (const [what, events, field, says] of refused) {
    const { status, body } = await send(server, events, { name: "a.jsonl" });
    expect(status, what).toBe(200);
    expect(body.results, what).toMatchObject([{ status: "refused", field }]);
    expect(body.results[0]!.detail, what).toMatch(says);
  }
  for (const content of ["", "no archive, and no events"])
    expect(await send(server, content, { name: "a.txt" })).toMatchObject({ status: 422 });
  expect((await server.client.searchConversations()).items).toEqual([]);
});

test("Import: an unknown kind of event is kept as it is, and an id that is taken by another log is refused", async () => {
  await using server = await startTestServer({});
  const name = `${first}.jsonl`;
  const odd = { ...message(first), kind: "TelescopeEvent", lens: { id: 7 } };
  expect(only(await send(server, jsonl(odd), { name })).status).toBe("imported");
  const [stored] = await eventsOf(server, first);
  expect(stored).toMatchObject({
    kind: "TelescopeEvent",
    lens: { id: 7 },
    timestamp: "2026-01-02T03:04:05.000006",
  });
  expect(only(await send(server, jsonl(odd), { name })).status).toBe("unchanged");
  const other = only(await send(server, jsonl(message(first)), { name }));
  expect(other).toMatchObject({ status: "refused", code: "id_taken" });
});

test("Import: a store that fails in the middle leaves nothing of the conversation", async () => {
  let failures = 0;
  await using server = await startTestServer({
    wrapJournal: (journal) => {
      const append = journal.append.bind(journal);
      return Object.assign(journal, {
        append: async (...given: Parameters<typeof append>) => {
          if (given[1].conversation?.isCopying === false && failures++ === 0)
            throw new Error("The disk is gone.");
          await append(...given);
        },
      });
    },
  });
  const name = `${first}.jsonl`;
  expect((await send(server, jsonl(message(first)), { name })).status).toBe(500);
  expect((await server.client.searchConversations()).items).toEqual([]);
  expect(only(await send(server, jsonl(message(first)), { name })).status).toBe("imported");
});
