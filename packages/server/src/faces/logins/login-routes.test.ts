import { once } from "node:events";
import type { LoginList, LoginReply, LoginTicket } from "@convoke/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readAudit } from "../../testing/read-audit.ts";
import { startTestServer, type Reply, type TestServer } from "../../testing/start-server.ts";
import { TestSocket } from "../../testing/test-socket.ts";
import { toReply } from "../../testing/start-server.ts";
import { closeCodes } from "../agent-server/sockets/close-codes.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    times: { keyCheckEveryMs: 20 },
    config: { trustedProxies: ["127.0.0.1"], allowedOrigins: ["https://agents.example.org"] },
  });
});
afterAll(() => server[Symbol.asyncDispose]());

type Login = { readonly cookie: string; readonly proof: string };
type Headers = Readonly<Record<string, string>>;

/** As a browser would: without a key unless the headers have one. */
async function ask(method: string, path: string, headers: Headers = {}, body?: unknown): Promise<Reply> {
  const reply = await fetch(`${server.url}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return toReply(reply.status, reply.headers, await reply.text());
}

/** What a page of this server sends. */
const own = (): Headers => ({ origin: server.url, "sec-fetch-site": "same-origin" });

const halves = ({ cookie, proof }: Login): Headers => ({ cookie, "x-convoke-proof": proof });

async function ticket(key = server.key): Promise<string> {
  const reply = await ask("POST", "/api/auth/tickets", { "x-session-api-key": key });
  expect(reply.status).toBe(201);
  return new URL((reply.json as LoginTicket).url).hash.replace("#t=", "");
}

async function logIn(body: object, headers: Headers = {}): Promise<Login & { readonly reply: Reply }> {
  const reply = await ask("POST", "/api/auth/login", { ...own(), ...headers }, body);
  expect(reply.status).toBe(200);
  const [cookie = ""] = reply.headers.getSetCookie()[0]!.split(";", 1);
  return { cookie, proof: (reply.json as LoginReply).proof, reply };
}

const statusOf = async (headers: Headers, method = "GET"): Promise<number> =>
  (await ask(method, method === "GET" ? "/api/tools/" : "/api/auth/logout", headers)).status;

describe("S2: logging in", () => {
  test("a ticket becomes a login, once; the key is in none of it", async () => {
    const made = await ask("POST", "/api/auth/tickets", { "x-session-api-key": server.key });
    const { url, expires_at: expiresAt } = made.json as LoginTicket;
    expect(url).toMatch(new RegExp(`^${server.url}/login#t=[\\w-]{32}$`));
    expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(600_000);
    const text = new URL(url).hash.slice(3);
    const { reply, ...login } = await logIn({ ticket: text });
    expect(reply.json).toMatchObject({ user_id: "local" });
    expect(reply.headers.get("cache-control")).toBe("no-store");
    const { port } = new URL(server.url);
    expect(reply.headers.get("set-cookie")).toMatch(
      new RegExp(`^convoke_${port}=[\\w-]{32}; Max-Age=34560000; Path=/; HttpOnly; SameSite=Strict$`),
    );
    expect(`${url}${reply.text}${reply.headers.get("set-cookie")}`).not.toContain(server.key);
    expect(await statusOf(halves(login))).toBe(200);
    const again = await ask("POST", "/api/auth/login", { ...own() }, { ticket: text });
    expect([again.status, again.json]).toMatchObject([401, { code: "wrong_login" }]);
  });

  test("a key becomes a login of its user", async () => {
    await using keys = await server.openKeys();
    const { key } = await keys.store.create("ada", "");
    const { reply } = await logIn({ key });
    expect(reply.json).toMatchObject({ user_id: "ada" });
  });

  test.each([{}, { ticket: "a", key: "b" }, { ticket: null, key: null }])("%j is neither", async (body) => {
    const { status, json } = await ask("POST", "/api/auth/login", own(), body);
    expect({ status, json }).toMatchObject({ status: 422, json: { detail: [{ loc: ["body", "ticket"] }] } });
  });

  test("behind a proxy with TLS the cookie is secure and stays below the prefix", async () => {
    const proxied = {
      "x-forwarded-proto": "https",
      "x-forwarded-host": "agents.example.org",
      "x-forwarded-prefix": "/convoke",
      origin: "https://agents.example.org",
    };
    const { reply } = await logIn({ key: server.key }, proxied);
    expect(reply.headers.get("set-cookie")).toMatch(/; Path=\/convoke\/; HttpOnly; SameSite=Strict; Secure$/);
  });
});

describe("U21: a login works from the server's own page alone", () => {
  let login: Login;
  beforeAll(async () => {
    login = await logIn({ key: server.key });
  });

  test("neither half is anything without the other", async () => {
    const { cookie, proof } = login;
    expect(await statusOf({ cookie })).toBe(401);
    expect(await statusOf({ "x-convoke-proof": proof })).toBe(401);
    expect(await statusOf({ cookie: `${cookie}x`, "x-convoke-proof": proof })).toBe(401);
    expect(await statusOf({ cookie, "x-convoke-proof": cookie.split("=")[1]! })).toBe(401);
    expect(await statusOf({ "x-session-api-key": cookie.split("=")[1]! })).toBe(401);
  });

  test("a login does not make up for a wrong key", async () => {
    expect(await statusOf({ ...halves(login), "x-session-api-key": "wrong" })).toBe(401);
  });

  test.each<[string, () => Headers]>([
    ["another port", () => ({ origin: "http://127.0.0.1:3000", "sec-fetch-site": "same-site" })],
    ["another name of this machine", () => ({ origin: server.url.replace("127.0.0.1", "localhost") })],
    ["another site", () => ({ origin: "https://evil.example", "sec-fetch-site": "cross-site" })],
    ["no origin", () => ({ origin: "null", "sec-fetch-site": "cross-site" })],
    ["another page that embeds", () => ({ "sec-fetch-site": "same-site" })],
    ["an address that was typed", () => ({ "sec-fetch-site": "none" })],
  ])("a page of %s can neither read nor steer, whatever it has", async (_what, headers) => {
    for (const method of ["GET", "POST"]) {
      expect(await statusOf({ ...halves(login), ...headers() }, method)).toBe(403);
    }
    const tried = await ask("POST", "/api/auth/login", headers(), { key: server.key });
    expect([tried.status, tried.headers.getSetCookie()]).toEqual([403, []]);
  });

  test("what changes something says where it is from; a key needs no origin, as before", async () => {
    expect(await statusOf(halves(login), "POST")).toBe(403);
    expect(await statusOf({ "x-session-api-key": server.key, origin: "http://localhost:3000" })).toBe(200);
  });
});

describe("S2: sockets", () => {
  async function open(headers: Headers, frame: object): Promise<TestSocket> {
    const { id } = await server.createConversation();
    const socket = new TestSocket(`${server.url}/sockets/events/${id}`, { headers });
    await once(socket.socket, "open");
    socket.send(frame);
    return socket;
  }

  test("the proof comes in the first frame, the cookie by itself", async () => {
    const { cookie, proof } = await logIn({ key: server.key });
    using socket = await open({ cookie, origin: server.url }, { type: "auth", proof });
    await socket.until((frames) => frames.length > 0);
  });

  test.each<[string, (login: Login) => Headers, (login: Login) => object]>([
    ["without the cookie", () => own(), ({ proof }) => ({ proof })],
    ["without the proof", ({ cookie }) => ({ cookie, ...own() }), () => ({})],
    ["with a wrong proof", ({ cookie }) => ({ cookie, ...own() }), () => ({ proof: "x" })],
    ["without an origin", ({ cookie }) => ({ cookie }), ({ proof }) => ({ proof })],
    [
      "U21: of a page on another port",
      ({ cookie }) => ({ cookie, origin: "http://127.0.0.1:3000" }),
      ({ proof }) => ({ proof }),
    ],
  ])("one %s is closed", async (_what, headers, frame) => {
    const login = await logIn({ key: server.key });
    using socket = await open(headers(login), { type: "auth", ...frame(login) });
    expect((await socket.closed).code).toBe(closeCodes.authFailed);
    expect(socket.frames).toEqual([]);
  });

  test.each<[string, (login: Login, keyId: string) => Promise<unknown>]>([
    ["it is logged out", (login) => ask("POST", "/api/auth/logout", { ...halves(login), ...own() })],
    [
      "it is ended from elsewhere",
      async (login) => {
        const { json } = await ask("GET", "/api/auth/logins", halves(login));
        const { id } = (json as LoginList).logins.find((entry) => entry.is_current)!;
        await ask("DELETE", `/api/auth/logins/${id}`, { ...halves(login), ...own() });
      },
    ],
    [
      "its key is revoked",
      async (_login, keyId) => {
        await using keys = await server.openKeys();
        await keys.store.revoke(keyId);
      },
    ],
  ])("those of a login are closed when %s", async (_what, end) => {
    await using keys = await server.openKeys();
    const { key, entry } = await keys.store.create("local", "");
    const login = await logIn({ ticket: await ticket(key) });
    using socket = await open(
      { cookie: login.cookie, origin: server.url },
      { type: "auth", proof: login.proof },
    );
    await socket.until((frames) => frames.length > 0);
    await end(login, entry.id);
    expect((await socket.closed).code).toBe(closeCodes.authFailed);
    expect(await statusOf(halves(login))).toBe(401);
  });
});

describe("S2: ending", () => {
  test("the list has the caller's own logins and marks the current one; logging out everywhere ends them all", async () => {
    await using keys = await server.openKeys();
    const { key } = await keys.store.create("bob", "");
    const one = await logIn({ key }, { "user-agent": "Firefox 140" });
    const other = await logIn({ ticket: await ticketOf(one) }, { "x-forwarded-for": "192.0.2.1, 192.0.2.7" });
    const { logins } = (await ask("GET", "/api/auth/logins", halves(other))).json as LoginList;
    expect(logins).toHaveLength(2);
    expect(logins.find((entry) => entry.is_current)).toMatchObject({ address: "192.0.2.7" });
    expect(logins.find((entry) => !entry.is_current)).toMatchObject({ client: "Firefox 140" });
    const left = await ask("POST", "/api/auth/logout", { ...halves(one), ...own() }, { everywhere: true });
    expect([left.status, left.headers.get("set-cookie")]).toEqual([
      204,
      expect.stringMatching(/^convoke_\d+=; Max-Age=0; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
    for (const login of [one, other]) expect(await statusOf(halves(login))).toBe(401);
  });

  /** A browser that logs another one in. */
  async function ticketOf(login: Login): Promise<string> {
    const made = await ask("POST", "/api/auth/tickets", { ...halves(login), ...own() });
    return new URL((made.json as LoginTicket).url).hash.slice(3);
  }

  test("another user's login is not there", async () => {
    await using keys = await server.openKeys();
    const { key } = await keys.store.create("eve", "");
    const { json } = await server.call("GET", "/api/auth/logins");
    const { id } = (json as LoginList).logins[0]!;
    const tried = await ask("DELETE", `/api/auth/logins/${id}`, { "x-session-api-key": key });
    expect([tried.status, tried.json]).toMatchObject([404, { code: "login_not_found" }]);
    const key2 = { "x-session-api-key": key };
    expect((await ask("GET", "/api/auth/logins", key2)).json).toEqual({ logins: [] });
    expect((await ask("POST", "/api/auth/logout", key2)).json).toMatchObject({ code: "not_a_login" });
  });

  test("a login ends with the configured key that began it, also one that another login began", async () => {
    await using own2 = await startTestServer();
    const post = (path: string, headers: Headers, body?: object) =>
      fetch(`${own2.url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const take = async (body: object): Promise<Headers> => {
      const reply = await post("/api/auth/login", {}, body);
      const { proof } = (await reply.json()) as LoginReply;
      return { cookie: reply.headers.getSetCookie()[0]!.split(";", 1)[0]!, "x-convoke-proof": proof };
    };
    const first = await take({ key: own2.key });
    const made = await post("/api/auth/tickets", { ...first, origin: own2.url });
    const second = await take({ ticket: new URL(((await made.json()) as LoginTicket).url).hash.slice(3) });
    const tools = async (headers: Headers) => (await fetch(`${own2.url}/api/tools/`, { headers })).status;
    await own2.restart();
    expect([await tools(first), await tools(second)]).toEqual([200, 200]);
    await own2.restart({ sessionApiKeys: ["another-key"] });
    expect([await tools(first), await tools(second)]).toEqual([401, 401]);
  });
});

test("S2: after five different failures a minute an address waits, also with a valid ticket; other addresses do not", async () => {
  const from = (address: string) => ({ ...own(), "x-forwarded-for": address });
  for (let count = 0; count < 5; count++) {
    expect((await ask("POST", "/api/auth/login", from("192.0.2.66"), { key: `guess ${count}` })).status).toBe(
      401,
    );
  }
  const held = await ask("POST", "/api/auth/login", from("192.0.2.66"), { key: server.key });
  expect([held.status, held.json]).toMatchObject([429, { code: "too_many_attempts" }]);
  expect((await ask("POST", "/api/auth/login", from("192.0.2.67"), { key: server.key })).status).toBe(200);
});

test("S2: the audit log names logins, and those that were refused", async () => {
  await using audited = await startTestServer();
  const login = await fetch(`${audited.url}/api/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ key: audited.key }),
  });
  const { proof } = (await login.json()) as LoginReply;
  const cookie = login.headers.getSetCookie()[0]!.split(";", 1)[0]!;
  await fetch(`${audited.url}/api/tools/`, { headers: { cookie, "x-convoke-proof": proof } });
  await fetch(`${audited.url}/api/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ticket: "wrong" }),
  });
  await audited.close();
  const { calls, refusals } = await readAudit(audited.dataDir);
  const loginId = expect.stringMatching(/^[0-9a-f]{16}$/) as string;
  expect(calls).toMatchObject([
    { user: "local", means: "login", loginId, route: "/api/auth/login", status: 200 },
    { user: "local", means: "login", loginId, route: "/api/tools/", status: 200 },
  ]);
  expect(refusals).toMatchObject([{ user: null, route: "/api/auth/login", status: 401 }]);
});

test("S2, U21, J28: without keys there is nothing to log in to, and a page of another port is refused unless it is configured", async () => {
  await using open = await startTestServer({
    config: { isAuthDisabled: true, allowedOrigins: ["http://127.0.0.1:3000"] },
  });
  const status = async (path: string, headers: Headers, method = "GET") =>
    (await fetch(`${open.url}${path}`, { method, headers })).status;
  for (const method of ["GET", "POST", "OPTIONS"]) {
    expect(await status("/api/conversations", { origin: "http://127.0.0.1:4000" }, method)).toBe(403);
  }
  expect(await status("/api/tools/", { "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" })).toBe(
    403,
  );
  expect(await status("/api/tools/", { origin: "http://127.0.0.1:3000" })).toBe(200);
  expect(await status("/api/tools/", { origin: open.url })).toBe(200);
  expect(await status("/api/tools/", {})).toBe(200);
  const { id } = await open.createConversation();
  using socket = new TestSocket(`${open.url}/sockets/events/${id}`, {
    headers: { origin: "http://localhost:4000" },
  });
  expect(await socket.opened).toBe(403);
  const made = await fetch(`${open.url}/api/auth/tickets`, { method: "POST" });
  expect(await made.json()).toMatchObject({ code: "no_logins" });
});

describe("hardening 7: a ticket of somebody else", () => {
  test("is refused where another user is logged in, and works when the person agrees", async () => {
    await using keys = await server.openKeys();
    const ann = await logIn({ key: (await keys.store.create("ann", "")).key });
    const mallory = (await keys.store.create("mallory", "")).key;
    const foreign = await ticket(mallory);
    const path = "/api/auth/login";
    const refused = await ask("POST", path, { ...own(), cookie: ann.cookie }, { ticket: foreign });
    expect([refused.status, refused.json]).toMatchObject([409, { code: "other_login" }]);
    expect(refused.text).toContain("logged in here as ann");
    expect(refused.headers.getSetCookie()).toEqual([]);
    expect(await statusOf(halves(ann))).toBe(200);
    // A cookie of theirs beside it changes nothing.
    const theirs = await logIn({ ticket: await ticket(mallory) });
    const both = { ...own(), cookie: `${theirs.cookie}; ${ann.cookie}` };
    expect((await ask("POST", path, both, { ticket: foreign })).status).toBe(409);
    const { reply } = await logIn({ ticket: foreign, replaces: true }, { cookie: ann.cookie });
    expect(reply.json).toMatchObject({ user_id: "mallory" });
  });

  test("is no question for the same user, for a login that is over, and for a wrong ticket", async () => {
    const login = await logIn({ ticket: await ticket() });
    await logIn({ ticket: await ticket() }, { cookie: login.cookie });
    await using keys = await server.openKeys();
    const ann = await logIn({ key: (await keys.store.create("ann", "")).key });
    const wrong = await ask("POST", "/api/auth/login", { ...own(), cookie: ann.cookie }, { ticket: "x" });
    expect(wrong.status).toBe(401);
    await ask("POST", "/api/auth/logout", { ...own(), ...halves(ann) });
    await logIn({ ticket: await ticket() }, { cookie: ann.cookie });
  });
});

test("hardening 9: a cookie of the same name that comes first, from another server of this host, locks nobody out", async () => {
  const login = await logIn({ key: server.key });
  const [name] = login.cookie.split("=");
  for (const cookie of [`${name}=other; ${login.cookie}`, `${name}=; ${name}=a; ${name}=b; ${login.cookie}`])
    expect(await statusOf(halves({ ...login, cookie }))).toBe(200);
  expect(await statusOf(halves({ ...login, cookie: `${name}=other` }))).toBe(401);
});
