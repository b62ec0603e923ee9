import type { Event } from "@convoke/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { TestSocket } from "../../../testing/test-socket.ts";

const texts = [
  "plain words",
  "ÄPFEL und Öl",
  "50% off_today",
  'say "quoted" \\ it\'s',
  "ΣΊΣΥΦΟΣ",
  "line\nbreak",
];

let server: TestServer;
let id = "";
let path = "";
let all: Event[] = [];
beforeAll(async () => {
  server = await startTestServer({
    script: {
      turns: [
        {
          text: "Looking.",
          reasoning: "deep thought",
          tool_calls: [{ name: "terminal", arguments: { command: "ls" } }],
        },
        { text: "Done with it." },
      ],
    },
  });
  id = await server.runTo("finished", "start");
  for (const text of texts) await server.client.sendMessage(id, { content: [{ type: "text", text }] });
  path = `/api/conversations/${id}/events`;
  all = (await server.client.searchEvents(id)).items;
});
afterAll(() => server[Symbol.asyncDispose]());

const search = async (query: string) => await server.call("GET", `${path}/search?${query}`);
const found = async (query: string): Promise<Event[]> =>
  ((await search(query)).json as { items: Event[] }).items;

describe("contract 4.1: what is not valid is a 422 that names the parameter", () => {
  test.each([
    ["limit", "0"],
    ["limit", "-1"],
    ["limit", "101"],
    ["limit", "x"],
    ["limit", "1.5"],
    ["limit", ""],
    ["limit", "1e1"],
    ["limit", "99999999999999999999"],
    ["sort_order", "timestamp"],
    ["sort_order", "UP"],
    ["timestamp__gte", "yesterday"],
    ["timestamp__gte", "2026-02-30T00:00:00Z"],
    ["timestamp__lt", "2026-01-01T25:00:00Z"],
    ["timestamp__lt", "1700000000"],
    ["page_id", "00000000-0000-4000-8000-000000000000"],
    ["page_id", "nonsense"],
    ["page_id", "'; DROP TABLE events; --"],
  ])("%s=%s", async (name, value) => {
    const reply = await search(`${name}=${encodeURIComponent(value)}`);
    expect(reply.status).toBe(422);
    const { detail } = reply.json as { detail: { loc: string[]; msg: string; type: string }[] };
    expect(detail.map(({ loc }) => loc)).toEqual([["query", name]]);
    expect(detail[0]!.msg).toMatch(/^[A-Z].*\.$/);
  });

  test("a page id of another conversation", async () => {
    const other = await server.runTo("finished", "other");
    const [first] = (await server.client.searchEvents(other)).items;
    expect((await search(`page_id=${first!.id}`)).status).toBe(422);
  });

  test("several wrong parameters are all named", async () => {
    const { detail } = (await search("limit=0&sort_order=UP")).json as { detail: { loc: string[] }[] };
    expect(new Set(detail.map(({ loc }) => loc[1]))).toEqual(new Set(["limit", "sort_order"]));
  });
});

test.each(["search", "count", "00000000-0000-4000-8000-000000000000", ""])(
  "contract 4.1 rule 3: /events/%s of an unknown conversation is a 404 that names it with dashes",
  async (rest) => {
    for (const form of ["0a0a0a0a-0000-4000-8000-00000000000b", "0A0A0A0A00004000800000000000000B"]) {
      const reply = await server.call("GET", `/api/conversations/${form}/events/${rest}?ids=x`);
      expect(reply.status).toBe(404);
      expect(reply.json).toMatchObject({
        detail: "Conversation not found: 0a0a0a0a-0000-4000-8000-00000000000b",
      });
    }
  },
);

test("a conversation is found by its id with and without dashes and in any case", async () => {
  for (const form of [id, id.toUpperCase(), id.replaceAll("-", "")]) {
    expect((await server.call("GET", `/api/conversations/${form}/events/count`)).json).toBe(all.length);
  }
});

describe("filters", () => {
  test("W22, L23.42: kind is the short name", async () => {
    expect(await found("kind=MessageEvent")).toEqual(all.filter(({ kind }) => kind === "MessageEvent"));
    expect(await found("kind=ActionEvent")).toHaveLength(1);
  });

  test("contract: kind is taken as the path of a class too, as older clients send it", async () => {
    const path = "openhands.sdk.event.llm_convertible.message.MessageEvent";
    const messages = all.filter(({ kind }) => kind === "MessageEvent");
    expect(await found(`kind=${path}`)).toEqual(messages);
    const count = await server.call("GET", `/api/conversations/${id}/events/count?kind=${path}`);
    expect(count.json).toBe(messages.length);
  });

  test("contract: an empty page_id is none", async () => {
    expect(await found("page_id=")).toEqual(all);
  });

  test("source", async () => {
    for (const source of ["agent", "user", "environment"]) {
      expect(await found(`source=${source}`)).toEqual(all.filter((event) => event.source === source));
    }
  });

  test.each([
    "kind=messageevent",
    "kind=Nothing",
    "source=hook",
    "source=USER",
    "body=nowhere",
    "kind=ActionEvent&source=user",
  ])("%s matches nothing: an empty last page", async (query) => {
    expect((await search(query)).json).toEqual({ items: [], next_page_id: null });
  });

  test.each([
    ["plain", "plain words"],
    ["PLAIN W", "plain words"],
    ["äpfel", "ÄPFEL und Öl"],
    ["öl", "ÄPFEL und Öl"],
    ["%", "50% off_today"],
    ["_", "50% off_today"],
    ["f_t", "50% off_today"],
    ['"quoted"', 'say "quoted" \\ it\'s'],
    ["\\", 'say "quoted" \\ it\'s'],
    ["it's", 'say "quoted" \\ it\'s'],
    ["\n", "line\nbreak"],
    ["σίσυφοσ", "ΣΊΣΥΦΟΣ"],
  ])("body=%j finds the message, any case, every character meant literally", async (body, text) => {
    const items = await found(`body=${encodeURIComponent(body)}`);
    expect(items.map(textOf)).toEqual([text]);
    expect(await server.client.countEvents(id, { body })).toBe(1);
  });

  test.each(["p_ain", "pl%rds", "*", "plain OR words", "nowhere OR plain"])(
    "body=%s is no pattern",
    async (body) => {
      expect(await found(`body=${encodeURIComponent(body)}`)).toEqual([]);
    },
  );

  test("body searches messages only, including those of the agent", async () => {
    expect((await found("body=done with")).map(textOf)).toEqual(["Done with it."]);
    expect(await found("body=ls")).toEqual([]);
  });

  test("P40: gte and lt are instants, whatever the zone they are written in", async () => {
    const middle = all[Math.floor(all.length / 2)]!;
    const micros = Date.parse(middle.timestamp!);
    const rest = middle.timestamp!.slice(19, 26);
    for (const [hours, zone] of [
      [0, "Z"],
      [2, "%2B02:00"],
      [2, "+02:00"],
      [-5, "-05:00"],
      [0, ""],
    ] as const) {
      const local = new Date(micros + hours * 3_600_000).toISOString().slice(0, 19);
      const gte = await found(`timestamp__gte=${local}${rest}${zone}`);
      const lt = await found(`timestamp__lt=${local}${rest}${zone}`);
      expect(gte).toEqual(all.slice(all.indexOf(middle)));
      expect(lt).toEqual(all.slice(0, all.indexOf(middle)));
    }
  });

  test("count agrees with search for every filter", async () => {
    for (const filter of [
      {},
      { kind: "MessageEvent" },
      { source: "user" },
      { body: "o" },
      { timestamp__lt: all[3]!.timestamp! },
    ]) {
      const items = await found(new URLSearchParams(filter).toString());
      expect(await server.client.countEvents(id, filter)).toBe(items.length);
    }
  });
});

test("both orders are the log and its reverse", async () => {
  expect(await found("sort_order=TIMESTAMP_DESC")).toEqual(all.toReversed());
  const ids = all.map((event) => event.id!);
  expect(ids).toEqual(ids.toSorted());
});

describe("P39: under concurrent appends every matching event comes exactly once, pages are full, paging ends", () => {
  const filters: Record<string, string>[] = [
    {},
    { kind: "MessageEvent" },
    { source: "user" },
    { body: "busy" },
    { timestamp__gte: "2020-01-01T00:00:00Z" },
    { kind: "MessageEvent", source: "user", body: "BUSY" },
  ];
  for (const order of ["TIMESTAMP", "TIMESTAMP_DESC"] as const) {
    test.each(filters)(`${order} %j`, async (filter) => {
      const { id: busy } = await server.createConversation();
      const send = (n: number) =>
        server.client.sendMessage(busy, { content: [{ type: "text", text: `busy ${n}` }] });
      for (let n = 0; n < 6; n++) await send(n);
      const before = (await server.client.searchEvents(busy, filter)).items.map((event) => event.id!);
      const seen: string[] = [];
      for (let pageId: string | null | undefined = null, n = 0; ; n++) {
        const page = await server.client.searchEvents(busy, {
          ...filter,
          sort_order: order,
          limit: 3,
          ...(pageId ? { page_id: pageId } : {}),
        });
        seen.push(...page.items.map((event) => event.id!));
        pageId = page.next_page_id;
        if (!pageId) break;
        expect(page.items).toHaveLength(3);
        if (n < 5) await Promise.all([send(100 + n), send(200 + n)]);
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen).toEqual(order === "TIMESTAMP" ? seen.toSorted() : seen.toSorted().toReversed());
      expect(before.filter((one) => !seen.includes(one))).toEqual([]);
      if (order === "TIMESTAMP_DESC") expect(seen).toHaveLength(before.length);
    });
  }
});

test("W23: get one is 404 for a miss, batch gives null in its place, in the order asked for", async () => {
  const miss = "00000000-0000-4000-8000-000000000000";
  const wanted = [all[4]!.id!, miss, all[0]!.id!, "nonsense", all[4]!.id!.toUpperCase()];
  expect((await server.call("GET", `${path}/${miss}`)).json).toMatchObject({
    detail: `Event not found: ${miss}`,
  });
  const expected = [all[4], null, all[0], null, all[4]];
  expect((await server.getWithBody(path, wanted)).json).toEqual(expected);
  expect((await server.call("GET", `${path}?${wanted.map((one) => `ids=${one}`).join("&")}`)).json).toEqual(
    expected,
  );
});

test("W24: search, get, batch and socket carry the same bytes for the same event", async () => {
  const page = await search("");
  using socket = new TestSocket(`${server.url}/sockets/events/${id}?resend_mode=all`, {
    headers: { "x-session-api-key": server.key },
  });
  await socket.untilCount(all.length + 1);
  const frames = socket.frames.slice(1);
  expect(page.text).toBe(`{"items":[${frames.join(",")}],"next_page_id":null}`);
  for (const [index, event] of all.entries()) {
    expect((await server.call("GET", `${path}/${event.id}`)).text).toBe(frames[index]);
  }
  const batch = await server.getWithBody(
    path,
    all.map((event) => event.id),
  );
  expect(batch.text).toBe(`[${frames.join(",")}]`);
});

test("timestamps are UTC, of one width and strictly increasing", () => {
  const stamps = all.map((event) => event.timestamp!);
  for (const stamp of stamps) expect(stamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  expect(new Set(stamps).size).toBe(stamps.length);
  expect(stamps.toSorted()).toEqual(stamps);
});

function textOf(event: Event): string {
  if (event.kind !== "MessageEvent") return event.kind;
  return (event.llm_message.content ?? []).map((part) => ("text" in part ? part.text : "")).join("");
}
