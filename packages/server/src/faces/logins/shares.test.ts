import { inflateRawSync } from "node:zlib";
import {
  agentFaceRoutes,
  appFaceRoutes,
  type CreatedShare,
  type KeyList,
  type Route,
} from "@convoke/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type Reply, type TestServer } from "../../testing/start-server.ts";
import { TestSocket } from "../../testing/test-socket.ts";
import { closeCodes } from "../agent-server/sockets/close-codes.ts";

type Page = { readonly items: readonly { readonly id: string; readonly kind: string }[] };

let server: TestServer;
let conversation = "";
let other = "";
let whole: CreatedShare;
let limited: CreatedShare;
let shown: Page["items"] = [];
let hidden: Page["items"] = [];
beforeAll(async () => {
  server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
  conversation = await server.runTo("finished", "first words");
  other = await server.runTo("finished", "hi");
  shown = await allEvents();
  const message = { role: "user", content: [{ type: "text", text: "later words" }], run: false };
  expect((await server.call("POST", `${own()}/events`, message)).status).toBe(200);
  await server.call("PATCH", own(), { title: "Named later" });
  hidden = (await allEvents()).slice(shown.length);
  expect(hidden.length).toBeGreaterThan(0);
  whole = await share({});
  limited = await share({ up_to_event_id: shown.at(-1)!.id });
});
afterAll(() => server[Symbol.asyncDispose]());

const own = (): string => `/api/conversations/${conversation}`;

async function allEvents(): Promise<Page["items"]> {
  return ((await server.call("GET", `${own()}/events/search`)).json as Page).items;
}

async function share(body: object, id = conversation): Promise<CreatedShare> {
  const reply = await server.call("POST", `/api/conversations/${id}/shares`, body);
  expect(reply.status).toBe(201);
  return reply.json as CreatedShare;
}

const call = ({ key }: CreatedShare, method: string, path: string, body?: unknown): Promise<Reply> =>
  server.call(method, path, body, { "X-Session-API-Key": key });

const tables: readonly Readonly<Record<string, Route>>[] = [agentFaceRoutes, appFaceRoutes];
const routes = tables.flatMap((table) => Object.values(table)).filter((route) => route.auth);
const inShare = routes.filter((route) => route.inShare === true);

test("a link is told once, with its end, and its page has the key in the fragment", async () => {
  expect(whole.url).toBe(`${server.url}/shared/${conversation}#${whole.key}`);
  const days = (Date.parse(whole.expires_at) - Date.parse(whole.created_at)) / 86_400_000;
  expect(days).toBeCloseTo(7, 3);
  const { text, json } = await server.call("GET", `${own()}/shares`);
  expect(json).toMatchObject({ shares: [{ id: whole.id }, { id: limited.id }] });
  expect(text).not.toContain(whole.key);
});

test("a link may use eight routes, which are in the table, and every other one is refused", async () => {
  expect(inShare.map(({ operationId }) => operationId).toSorted()).toEqual(
    [
      "countEvents",
      "downloadTrajectory",
      "getConversation",
      "getEvent",
      "getEvents",
      "getOutline",
      "getTranscript",
      "searchEvents",
    ].toSorted(),
  );
  const wrong: string[] = [];
  for (const { method, path, inShare: isOpen } of routes.filter(({ role }) => role !== "admin"))
    for (const link of [whole, limited]) {
      if (isOpen === true) continue;
      const { status } = await call(link, method, path.replaceAll(/\{\w+\}/g, conversation));
      if (status !== 403) wrong.push(`${method} ${path}: ${status}`);
    }
  expect(wrong).toEqual([]);
});

test("other conversations do not exist for a link", async () => {
  for (const { method, path } of inShare)
    expect((await call(whole, method, path.replaceAll(/\{\w+\}/g, other))).status).toBe(404);
});

/** Each read that a link may make, asked so that it would show what is hidden, and what a limited link gets. */
const reads: readonly {
  readonly operation: string;
  readonly path: () => string;
  readonly check: (reply: Reply) => void;
}[] = [
  {
    operation: "searchEvents",
    path: () => "/events/search",
    check: ({ json }) => expect((json as Page).items.map(({ id }) => id)).toEqual(shown.map(({ id }) => id)),
  },
  {
    operation: "searchEvents",
    path: () => "/events/search?sort_order=TIMESTAMP_DESC&limit=1",
    check: ({ json }) => expect((json as Page).items[0]!.id).toBe(shown.at(-1)!.id),
  },
  {
    operation: "searchEvents",
    path: () => `/events/search?page_id=${hidden[0]!.id}`,
    check: ({ json }) => expect((json as Page).items).toEqual([]),
  },
  {
    operation: "searchEvents",
    path: () => `/events/search?sort_order=TIMESTAMP_DESC&page_id=${hidden.at(-1)!.id}`,
    check: ({ json }) => expect((json as Page).items).toHaveLength(shown.length),
  },
  {
    operation: "searchEvents",
    path: () => "/events/search?body=later",
    check: ({ json }) => expect((json as Page).items).toEqual([]),
  },
  {
    operation: "searchEvents",
    path: () => "/events/search?timestamp__lt=2200-01-01T00:00:00Z",
    check: ({ json }) => expect((json as Page).items).toHaveLength(shown.length),
  },
  {
    operation: "countEvents",
    path: () => "/events/count?timestamp__gte=2000-01-01T00:00:00Z",
    check: ({ json }) => expect(json).toBe(shown.length),
  },
  {
    operation: "getEvent",
    path: () => `/events/${hidden[0]!.id}`,
    check: ({ status }) => expect(status).toBe(404),
  },
  {
    operation: "getEvents",
    path: () => `/events?ids=${hidden[0]!.id}&ids=${shown[0]!.id}`,
    check: ({ json }) => expect(json).toMatchObject([null, { id: shown[0]!.id }]),
  },
  {
    operation: "getOutline",
    path: () => "/outline",
    check: ({ json }) =>
      expect(json).toMatchObject({
        items: [{ text: "first words", answer: "Hello.", last_event_id: shown.at(-1)!.id }],
        next_page_id: null,
      }),
  },
  {
    operation: "getOutline",
    path: () => `/outline?page_id=${laterMessage()}`,
    check: ({ json }) => expect(json).toMatchObject({ items: [{ text: "first words" }] }),
  },
  {
    operation: "getTranscript",
    path: () => "/transcript",
    check: ({ text }) => expect(text).toContain("first words"),
  },
  {
    operation: "getTranscript",
    path: () => "/transcript?format=jsonl",
    check: ({ text }) =>
      expect(
        text
          .trimEnd()
          .split("\n")
          .map((line) => (JSON.parse(line) as { id: string }).id),
      ).toEqual(shown.map(({ id }) => id)),
  },
  {
    operation: "getConversation",
    path: () => "",
    check: ({ json }) => expect(json).not.toHaveProperty("execution_status"),
  },
];

function laterMessage(): string {
  return hidden.find(({ kind }) => kind === "MessageEvent")!.id;
}

/** The names in the archive, and everything that it has in it. */
async function exported(link: CreatedShare): Promise<{ names: string[]; text: string }> {
  const reply = await fetch(`${server.url}/api/file/download-trajectory/${conversation}`, {
    headers: { "X-Session-API-Key": link.key },
  });
  expect(reply.status).toBe(200);
  return readZip(Buffer.from(await reply.arrayBuffer()));
}

/** By the headers in front of the entries, whose sizes are in the directory at the end. */
function readZip(bytes: Buffer): { names: string[]; text: string } {
  const names: string[] = [];
  const texts: string[] = [];
  let at = bytes.readUInt32LE(bytes.length - 6);
  while (bytes.readUInt32LE(at) === 0x02014b50) {
    const [size, nameSize] = [bytes.readUInt32LE(at + 20), bytes.readUInt16LE(at + 28)];
    const local = bytes.readUInt32LE(at + 42);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const content = bytes.subarray(start, start + size);
    names.push(bytes.subarray(at + 46, at + 46 + nameSize).toString());
    texts.push((bytes.readUInt16LE(at + 10) === 0 ? content : inflateRawSync(content)).toString());
    at += 46 + nameSize + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return { names, text: texts.join("\n") };
}

test("the export of a link has what the link shows, and a description without the agent's configuration", async () => {
  const part = await exported(limited);
  expect(part.names).toHaveLength(1 + shown.length);
  expect(part.text).not.toContain("later words");
  const all = await exported(whole);
  expect(all.names).toHaveLength(1 + (await allEvents()).length);
  expect(all.text).toContain("later words");
  expect(all.text).not.toContain("persistence_dir");
});

test("a link shows the system prompt only where its owner has chosen it, on each way", async () => {
  const chosen = await share({ include_system_prompt: true });
  expect(chosen.include_system_prompt).toBe(true);
  expect(whole.include_system_prompt).toBe(false);
  const prompts = async (link: CreatedShare): Promise<string[]> => {
    using socket = open(link, `/sockets/events/${conversation}?resend_all=true`);
    await socket.until((frames) => frames.some(({ kind }) => kind === "SystemPromptEvent"));
    const read = async (path: string): Promise<string> => (await call(link, "GET", `${own()}${path}`)).text;
    const id = shown.find(({ kind }) => kind === "SystemPromptEvent")!.id;
    return [
      await read("/events/search"),
      await read(`/events/${id}`),
      await read(`/events?ids=${id}`),
      await read("/transcript?format=jsonl"),
      (await exported(link)).text,
      JSON.stringify(socket.frames),
    ];
  };
  for (const text of await prompts(chosen)) expect(text).toContain("TerminalTool");
  for (const text of await prompts(whole)) {
    expect(text).not.toContain("TerminalTool");
    expect(text).toContain("The link does not show the system prompt.");
  }
  await server.call("DELETE", `${own()}/shares/${chosen.id}`);
});

test("each route of a link has a read that checks where it ends", () => {
  const exporting = ["downloadTrajectory"];
  expect(new Set([...exporting, ...reads.map(({ operation }) => operation)])).toEqual(
    new Set(inShare.map(({ operationId }) => operationId)),
  );
});

test("a link that ends at an event shows nothing after it, also when the owner has asked before", async () => {
  for (const { path, check } of reads)
    for (const _time of [1, 2]) {
      await server.call("GET", `${own()}${path()}`);
      const reply = await call(limited, "GET", `${own()}${path()}`);
      check(reply);
      expect(reply.text).not.toContain("later words");
    }
  const all = (await call(whole, "GET", `${own()}/events/search`)).json as Page;
  expect(all.items).toHaveLength(shown.length + hidden.length);
  expect((await call(whole, "GET", `${own()}/events/search?body=later`)).json).toMatchObject({
    items: [{ kind: "MessageEvent" }],
  });
});

test("a visitor sees the conversation without secrets and configuration, and until when", async () => {
  const secrets = {
    secrets: { NAMED: { kind: "StaticSecret", value: "hidden", description: "told to none" } },
  };
  expect((await server.call("POST", `${own()}/secrets`, secrets)).status).toBe(200);
  const { json, text } = await call(whole, "GET", own());
  expect(json).toMatchObject({ id: conversation, title: "Named later", execution_status: "idle" });
  expect(json).toMatchObject({ share: { expires_at: whole.expires_at, up_to_event_id: null } });
  expect(Object.keys((json as { agent: object }).agent)).toEqual(["kind", "llm"]);
  const events = (await call(whole, "GET", `${own()}/events/search`)).text;
  using socket = open(whole, `/sockets/events/${conversation}?resend_all=true`);
  await socket.until((frames) => frames.some(({ key }) => key === "secret_registry"));
  for (const shownText of [text, events, JSON.stringify(socket.frames)]) {
    expect(shownText).not.toContain("told to none");
    expect(shownText).not.toContain('secret_sources":{"');
    expect(shownText).not.toContain("system_prompt_filename");
  }
});

function open({ key }: CreatedShare, path = `/sockets/events/${conversation}`): TestSocket {
  return new TestSocket(`${server.url}${path}`, { headers: { "X-Session-API-Key": key } });
}

test("a link has the live events of its conversation, and no other socket; one that ends has none", async () => {
  using live = open(whole);
  await live.untilCount(1);
  for (const [link, path] of [
    [limited, `/sockets/events/${conversation}`],
    [whole, `/sockets/events/${other}`],
    [whole, "/sockets/overview"],
    [whole, `/sockets/terminals/${conversation}`],
    [whole, `/sockets/browsers/${conversation}`],
    [whole, `/sockets/shells/${conversation}?shell=0`],
    [whole, "/sockets/bash-events"],
  ] as const) {
    using refused = open(link, path);
    expect([path, (await refused.closed).code]).toEqual([path, closeCodes.notFound]);
  }
});

test("a revoked link is over, with its sockets", async () => {
  const made = await share({ label: "for ada" });
  using live = open(made);
  await live.untilCount(1);
  const path = `${own()}/shares/${made.id}`;
  expect((await server.call("DELETE", `/api/conversations/${other}/shares/${made.id}`)).status).toBe(404);
  expect((await server.call("DELETE", path)).status).toBe(204);
  expect((await live.closed).code).toBe(closeCodes.authFailed);
  expect((await call(made, "GET", own())).status).toBe(401);
  expect(await server.call("DELETE", path)).toMatchObject({ status: 404, json: { code: "share_not_found" } });
});

test("keys of one conversation make no links, and no link outlives the key that made it", async () => {
  const make = async (body: object): Promise<string> =>
    ((await server.call("POST", "/api/keys", body)).json as { key: string }).key;
  const scoped = { "X-Session-API-Key": await make({ scope: { conversation } }) };
  expect((await server.call("POST", `${own()}/shares`, {}, scoped)).json).toMatchObject({
    code: "scope_refused",
  });
  const end = new Date(Date.now() + 3_600_000).toISOString();
  const short = { "X-Session-API-Key": await make({ expires_at: end }) };
  expect((await server.call("POST", `${own()}/shares`, {}, short)).json).toMatchObject({ expires_at: end });
  const later = await server.call("POST", `${own()}/shares`, { expires_in_seconds: 7_200 }, short);
  expect(later).toMatchObject({ status: 403, json: { code: "more_than_own_key" } });
});

test("wrong ends and events are named, and a key cannot be made with the scope of a link", async () => {
  for (const body of [
    { expires_in_seconds: 5 },
    { expires_in_seconds: 40_000_000 },
    { up_to_event_id: "no-such-event" },
  ])
    expect((await server.call("POST", `${own()}/shares`, body)).status).toBe(422);
  const scope = { conversation, read_only: true, share: {} };
  expect((await server.call("POST", "/api/keys", { scope })).status).toBe(422);
  const { keys } = (await server.call("GET", "/api/keys")).json as KeyList;
  expect(keys.find(({ id }) => id === limited.id)?.scope).toEqual({
    conversation,
    read_only: true,
    share: { up_to_event_id: shown.at(-1)!.id, include_system_prompt: false },
  });
});
