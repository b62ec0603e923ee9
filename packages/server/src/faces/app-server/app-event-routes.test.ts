import { appEventRoutes, type Event, type EventPage } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";

const validator = createValidator();
let server: TestServer;
let conversation = "";
let stored: string[] = [];
let strangerKey = "";
beforeAll(async () => {
  server = await startTestServer({ script: { turns: [{ text: "Hello." }], loop: true } });
  conversation = await server.runTo("finished", "hi");
  stored = await server.eventTexts(conversation);
  await using keys = await server.openKeys();
  strangerKey = (await keys.store.create("bob", "")).key;
});
afterAll(() => server[Symbol.asyncDispose]());

/** Both generations of paths, and both forms of the id. */
const forms = ["path", "path, 32 digits", "query", "query, 32 digits"] as const;
type Form = (typeof forms)[number];

function address(form: Form, what: "" | "/search" | "/count", query = "", id = conversation): string {
  const given = form.endsWith("digits") ? id.replaceAll("-", "") : id;
  return form.startsWith("path")
    ? `/api/v1/conversation/${given}/events${what}?${query}`
    : `/api/v1/events${what}?conversation_id__eq=${given}&${query}`;
}

const call = (path: string, headers: Record<string, string> = {}) =>
  server.call("GET", path, undefined, headers);

describe.each(forms)("conversation in the %s", (form) => {
  test("pages are the stored texts, each event once, in both orders", async () => {
    for (const order of ["TIMESTAMP", "TIMESTAMP_DESC"]) {
      const texts: string[] = [];
      let pageId: string | null = "";
      while (pageId !== null) {
        const page = await call(
          address(form, "/search", `limit=2&sort_order=${order}${pageId && `&page_id=${pageId}`}`),
        );
        expect(page.status).toBe(200);
        const { items, next_page_id } = page.json as EventPage;
        const all = items.map((item) => JSON.stringify(item));
        expect(page.text).toContain(all.join(","));
        expect(
          validator.check(appEventRoutes.searchAppEvents.responses[200].schema, structuredClone(page.json)),
        ).toMatchObject({
          ok: true,
        });
        texts.push(...all);
        pageId = next_page_id ?? null;
      }
      expect(texts).toEqual(order === "TIMESTAMP" ? stored : stored.toReversed());
    }
  });

  test("filters by kind and time, and the count agrees", async () => {
    const events = stored.map((text) => JSON.parse(text) as Event & { timestamp: string });
    const middle = events[Math.floor(events.length / 2)]!.timestamp;
    for (const [query, expected] of [
      ["", events.length],
      ["kind__eq=MessageEvent", events.filter(({ kind }) => kind === "MessageEvent").length],
      ["kind__eq=PauseEvent", 0],
      [`timestamp__gte=${middle}`, events.filter(({ timestamp }) => timestamp >= middle).length],
      [`timestamp__lt=${middle}`, events.filter(({ timestamp }) => timestamp < middle).length],
    ] as const) {
      expect((await call(address(form, "/count", query))).json, query).toBe(expected);
      const { items } = (await call(address(form, "/search", query))).json as EventPage;
      expect(items.length, query).toBe(expected);
    }
  });

  test("a batch answers in the order asked for, with null for misses", async () => {
    const ids = stored.slice(0, 2).map((text) => (JSON.parse(text) as { id: string }).id);
    const reply = await call(address(form, "", `id=${ids[1]}&id=none&id=${ids[0]!.replaceAll("-", "")}`));
    expect(reply.text).toBe(`[${stored[1]},null,${stored[0]}]`);
  });

  test.each(["/search", "/count", ""] as const)(
    "events%s: 401, and 404 for nobody's and another's",
    async (what) => {
      const query = what === "" ? "id=x" : "";
      const without = await fetch(`${server.url}${address(form, what, query)}`);
      expect(without.status).toBe(401);
      const foreign = await call(address(form, what, query), { "X-Session-API-Key": strangerKey });
      const none = await call(address(form, what, query, "00000000-0000-4000-8000-000000000000"));
      for (const reply of [foreign, none]) {
        expect(reply.status).toBe(404);
        expect(reply.json).toMatchObject({ code: "conversation_not_found" });
      }
    },
  );

  test.each([
    ["/search", "limit=0", "limit"],
    ["/search", "limit=101", "limit"],
    ["/search", "sort_order=UP", "sort_order"],
    ["/search", "page_id=nowhere", "page_id"],
    ["/search", "kind__eq=NoSuchEvent", "kind__eq"],
    ["/search", "timestamp__gte=yesterday", "timestamp__gte"],
    ["/search", "timestamp__lt=2026-02-30", "timestamp__lt"],
    ["/count", "kind__eq=NoSuchEvent", "kind__eq"],
    ["", "", "id"],
    ["", "id=a&".repeat(101), "id"],
  ] as const)("events%s?%s is a 422 that names the field", async (what, query, field) => {
    const reply = await call(address(form, what, query));
    expect(reply.status).toBe(422);
    expect(reply.json).toMatchObject({ detail: [{ loc: ["query", field] }] });
  });
});

test("an id that is no UUID, and a missing one, name the field", async () => {
  expect((await call("/api/v1/conversation/x/events/search")).json).toMatchObject({
    detail: [{ loc: ["path", "conversation_id"], type: "uuid_parsing" }],
  });
  expect((await call("/api/v1/events/search")).json).toMatchObject({
    detail: [{ loc: ["query", "conversation_id__eq"], type: "missing" }],
  });
});
