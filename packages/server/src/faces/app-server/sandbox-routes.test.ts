import { noCallListener } from "../../http/observe-requests.ts";
import { sandboxRoutes, sandboxSpecRoutes, type Route, type SandboxInfo } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import { expect, test } from "vitest";
import { createGuard } from "../../http/guard.ts";
import { mountRoutes } from "../../http/mount.ts";
import { openHttp } from "../../http/open-http.ts";
import { silentLogger } from "../../lib/logger.ts";
import { MemorySandboxes } from "../../testing/memory-sandboxes.ts";
import { startTestServer } from "../../testing/start-server.ts";
import { sandboxHandlers } from "./sandbox-routes.ts";

const routes = { ...sandboxRoutes, ...sandboxSpecRoutes };
type Operation = keyof typeof routes;
type Call = { id?: string; query?: string; body?: object; key?: string | null };

const validator = createValidator();
const publicHost = "agents.example.org";

/** The routes over HTTP, each user's name being the key; every answer is checked against what its route documents. */
async function openFace() {
  const guard = createGuard({ boundHost: "127.0.0.1", allowedHosts: [publicHost], allowedOrigins: [] });
  const app = await openHttp({ guard, logger: silentLogger, calls: noCallListener });
  mountRoutes(app, routes, sandboxHandlers({ sandboxes: new MemorySandboxes() }), {
    validator,
    callers: {
      authenticateCookie: () => null,
      authenticate: ({ headers }) => {
        const key = headers["x-session-api-key"];
        return typeof key === "string" ? { userId: key } : null;
      },
    },
  });
  async function call(operation: Operation, { id = "", query = "", body, key = "ada" }: Call = {}) {
    const { method, path, responses } = routes[operation];
    const reply = await app.inject({
      method,
      url: path.replace("{sandbox_id}", id) + query,
      headers: { host: publicHost, ...(key === null ? {} : { "x-session-api-key": key }) },
      ...(body === undefined ? {} : { payload: body }),
    });
    const documented: Readonly<Record<number, { schema?: object }>> = responses;
    const { schema } = documented[reply.statusCode] ?? {};
    if (schema !== undefined) expect(validator.check(schema, reply.json())).toMatchObject({ ok: true });
    return { status: reply.statusCode, json: reply.json(), text: reply.body };
  }
  return { call, [Symbol.asyncDispose]: async () => app.close() };
}

const operations = Object.keys(routes) as Operation[];
const commands = ["pauseSandbox", "resumeSandbox", "deleteSandbox"] as const;

test.each(operations)("%s needs a key", async (operation) => {
  await using face = await openFace();
  expect((await face.call(operation, { id: "x", key: null })).status).toBe(401);
});

test("a server without sandboxes says so on each of the routes", async () => {
  await using server = await startTestServer();
  for (const { method, path } of Object.values<Route>(routes)) {
    const url = `${path.replace("{sandbox_id}", "x")}?id=x`;
    const reply = await server.call(method, url);
    expect(reply, `${method} ${url}`).toMatchObject({ status: 503, json: { code: "sandboxes_not_served" } });
  }
  expect((await server.call("GET", "/sandboxes/x/api/conversations/count")).status).toBe(503);
  expect((await fetch(`${server.url}/sandboxes/x/api/conversations/count`)).status).toBe(401);
});

test("a sandbox starts, pauses, resumes and is removed", async () => {
  await using face = await openFace();
  const started = await face.call("startSandbox");
  const { id } = started.json as SandboxInfo;
  expect(started.json).toEqual({
    id,
    created_by_user_id: "ada",
    sandbox_spec_id: "first",
    status: "STARTING",
    session_api_key: null,
    exposed_urls: null,
    created_at: "1970-01-01T00:00:00.000000Z",
    status_detail: "preparing",
  });
  const statuses: unknown[] = [];
  for (const operation of ["resumeSandbox", "pauseSandbox", "pauseSandbox", "resumeSandbox"] as const) {
    expect((await face.call(operation, { id })).json).toEqual({ success: true });
    const [now] = (await face.call("getSandboxes", { query: `?id=${id}` })).json as SandboxInfo[];
    statuses.push(now!.status);
  }
  expect(statuses).toEqual(["RUNNING", "PAUSED", "PAUSED", "RUNNING"]);
  expect((await face.call("deleteSandbox", { id })).json).toEqual({ success: true });
  expect((await face.call("deleteSandbox", { id })).status).toBe(404);
  expect((await face.call("getSandboxes", { query: `?id=${id}` })).json).toEqual([null]);
});

test("P55: the spec may come in the query or in the body, which wins; an unknown one is a 404 that lists them", async () => {
  await using face = await openFace();
  const specOf = async (call: Call) =>
    ((await face.call("startSandbox", call)).json as SandboxInfo).sandbox_spec_id;
  expect(await specOf({ query: "?sandbox_spec_id=second" })).toBe("second");
  expect(await specOf({ body: { sandbox_spec_id: "third" }, query: "?sandbox_spec_id=second" })).toBe(
    "third",
  );
  expect(await specOf({ body: { sandbox_spec_id: null } })).toBe("first");
  const unknown = await face.call("startSandbox", { query: "?sandbox_spec_id=nothing" });
  expect(unknown.status).toBe(404);
  expect(unknown.json).toMatchObject({ code: "sandbox_spec_not_found" });
  expect(unknown.text).toContain("first, second, third");
});

test.each(commands)("%s: a sandbox of another user, or none at all, is a 404", async (operation) => {
  await using face = await openFace();
  const { id } = (await face.call("startSandbox")).json as SandboxInfo;
  const before = (await face.call("getSandboxes", { query: `?id=${id}` })).json;
  for (const call of [{ id, key: "bob" }, { id: "nowhere" }]) {
    const refused = await face.call(operation, call);
    expect(refused.status).toBe(404);
    expect(refused.json).toMatchObject({ code: "sandbox_not_found" });
  }
  expect((await face.call("getSandboxes", { query: `?id=${id}` })).json).toEqual(before);
});

test("pages have one's own sandboxes, the newest first, each once", async () => {
  await using face = await openFace();
  const ids: string[] = [];
  for (let number = 0; number < 5; number++) {
    ids.unshift(((await face.call("startSandbox")).json as SandboxInfo).id);
    await face.call("startSandbox", { key: "bob" });
  }
  const seen: string[] = [];
  let pageId: string | null = null;
  do {
    const query: string = `?limit=2${pageId === null ? "" : `&page_id=${pageId}`}`;
    const page = (await face.call("searchSandboxes", { query })).json as {
      items: SandboxInfo[];
      next_page_id: string | null;
    };
    seen.push(...page.items.map(({ id }) => id));
    pageId = page.next_page_id;
  } while (pageId !== null);
  expect(seen).toEqual(ids);
  const batch = await face.call("getSandboxes", { query: `?id=${ids[1]}&id=none&id=${ids[0]}` });
  expect((batch.json as (SandboxInfo | null)[]).map((item) => item?.id ?? null)).toEqual([
    ids[1],
    null,
    ids[0],
  ]);
  expect((await face.call("getSandboxes", { query: `?id=${ids[0]}`, key: "bob" })).json).toEqual([null]);
});

test("templates: pages and batches", async () => {
  await using face = await openFace();
  const first = await face.call("searchSandboxSpecs", { query: "?limit=2" });
  expect(first.json).toMatchObject({ items: [{ id: "first" }, { id: "second" }], next_page_id: "third" });
  const last = await face.call("searchSandboxSpecs", { query: "?limit=2&page_id=third" });
  expect(last.json).toMatchObject({ items: [{ id: "third" }], next_page_id: null });
  const batch = await face.call("getSandboxSpecs", { query: "?id=second&id=none" });
  expect(batch.json).toMatchObject([
    {
      id: "second",
      command: null,
      initial_env: {},
      isolation: "none",
      description: "For tests",
      runtime: "runsc",
    },
    null,
  ]);
  expect(Object.keys(first.json.items[0])).toEqual([
    "id",
    "command",
    "created_at",
    "initial_env",
    "working_dir",
    "isolation",
  ]);
});

test.each([
  ["searchSandboxes", "?limit=0", ["query", "limit"]],
  ["searchSandboxes", "?limit=-1", ["query", "limit"]],
  ["searchSandboxes", "?limit=101", ["query", "limit"]],
  ["searchSandboxes", "?limit=many", ["query", "limit"]],
  ["searchSandboxes", "?page_id=nowhere", ["query", "page_id"]],
  ["searchSandboxSpecs", "?limit=101", ["query", "limit"]],
  ["searchSandboxSpecs", "?page_id=nowhere", ["query", "page_id"]],
  ["getSandboxes", "", ["query", "id"]],
  ["getSandboxes", `?${"id=a&".repeat(101)}`, ["query", "id"]],
  ["getSandboxSpecs", "", ["query", "id"]],
] as const)("%s%s is a 422 that names the field", async (operation, query, loc) => {
  await using face = await openFace();
  const refused = await face.call(operation, { query });
  expect(refused.status).toBe(422);
  expect(refused.json).toMatchObject({ detail: [{ loc }] });
});

test("a body of the wrong form is a 422 that names the field", async () => {
  await using face = await openFace();
  const refused = await face.call("startSandbox", { body: { sandbox_spec_id: 7 } });
  expect(refused.status).toBe(422);
  expect(refused.json).toMatchObject({ detail: [{ loc: ["body", "sandbox_spec_id"] }] });
});

test("P16: a running sandbox has addresses of the server as the client reached it, and a key of its own", async () => {
  await using face = await openFace();
  const { id } = (await face.call("startSandbox")).json as SandboxInfo;
  const starting = await face.call("getSandboxes", { query: `?id=${id}` });
  expect(starting.json).toMatchObject([{ session_api_key: null, exposed_urls: null }]);
  await face.call("resumeSandbox", { id });
  for (const operation of ["searchSandboxes", "getSandboxes"] as const) {
    const query = operation === "getSandboxes" ? `?id=${id}` : "";
    const { json, text } = await face.call(operation, { query });
    const [info] = operation === "getSandboxes" ? json : json.items;
    const base = `http://${publicHost}/sandboxes/${id}`;
    expect(info).toMatchObject({
      session_api_key: `session-key-of-${id}`,
      exposed_urls: [
        { name: "AGENT_SERVER", url: base, port: 8000 },
        { name: "WORKER_1", url: `${base}~port-key-of-${id}/ports/8011/`, port: 8011 },
        { name: "WORKER_2", url: `${base}~port-key-of-${id}/ports/8012/`, port: 8012 },
      ],
    });
    expect(text).not.toMatch(/localhost|127\.0\.0\.1/);
  }
});
