import type { LoginList, LoginReply, UserList } from "@convoke/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OidcSettings } from "../../oidc/oidc-settings.ts";
import { CookieJar } from "../../testing/oidc/cookie-jar.ts";
import { startCertifiedProvider, type CertifiedProvider } from "../../testing/oidc/certified-provider.ts";
import { oidcSettingsOf } from "../../testing/oidc/oidc-settings-of.ts";
import { readAudit } from "../../testing/read-audit.ts";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { readTestedStore } from "../../testing/tested-store.ts";

type Login = { readonly cookie: string; readonly "x-convoke-proof": string };

let provider: CertifiedProvider;
let server: TestServer;
beforeAll(async () => {
  provider = await startCertifiedProvider();
  server = await startTestServer({ config: { oidc: oidcSettingsOf(provider) } });
  provider.register(`${server.url}/api/auth/oidc/callback`);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const groups = (...values: string[]) => ({ groups: values });
const mail = (email: string, isVerified = true) => ({ email, email_verified: isVerified });
const isLoginPage = ({ pathname }: URL): boolean => pathname.endsWith("/login");
const isCallback = ({ pathname }: URL): boolean => pathname === "/api/auth/oidc/callback";

/** What is behind the `#` of the page's login, where the way through the provider ends. */
async function enter(
  subject: string | null,
  browser = new CookieJar(),
  query = "",
): Promise<URLSearchParams> {
  provider.person = subject;
  const end = await browser.follow(`${server.url}/api/auth/oidc${query}`, isLoginPage);
  return new URLSearchParams(end.hash.slice(1));
}

/** As the page does with the ticket. */
async function exchange(
  fragment: URLSearchParams,
  at = server,
): Promise<Login & { readonly reply: LoginReply }> {
  const response = await fetch(`${at.url}/api/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: at.url },
    body: JSON.stringify({ ticket: fragment.get("t") }),
  });
  expect(response.status).toBe(200);
  const reply = (await response.json()) as LoginReply;
  const cookie = response.headers.getSetCookie()[0]!.split(";", 1)[0]!;
  return { cookie, "x-convoke-proof": reply.proof, reply };
}

async function statusOf({ cookie, "x-convoke-proof": proof }: Login, path = "/api/tools/"): Promise<number> {
  return (await fetch(`${server.url}${path}`, { headers: { cookie, "x-convoke-proof": proof } })).status;
}

async function findUser(id: string): Promise<UserList["users"][number] | undefined> {
  return ((await server.call("GET", "/api/users")).json as UserList).users.find((user) => user.id === id);
}

async function setOidc(given: Partial<OidcSettings>): Promise<void> {
  await server.restart({ oidc: oidcSettingsOf(provider, given) });
}

test("the page is told the provider's name, and nothing else of it", async () => {
  const response = await fetch(`${server.url}/api/auth/methods`);
  expect([response.status, await response.json()]).toEqual([200, { oidc: { name: "Example ID" } }]);
});

test("a person logs in at the provider and is a user here, once made, with the role of the groups", async () => {
  provider.people.set("1001", { ...groups("staff", "others"), ...mail("Ada@Example.org") });
  const fragment = await enter("1001", new CookieJar(), "?return_to=%2Fc%2F42%3Fx%3D1");
  expect([...fragment.keys()]).toEqual(["t", "to"]);
  expect(fragment.get("to")).toBe("/c/42?x=1");
  const login = await exchange(fragment);
  expect(login.reply.user_id).toBe("ada@example.org");
  expect(await statusOf(login)).toBe(200);
  expect(await statusOf(login, "/api/users")).toBe(403);
  const again = await exchange(await enter("1001"));
  expect(again.reply.user_id).toBe("ada@example.org");
  const headers = { cookie: again.cookie, "x-convoke-proof": again["x-convoke-proof"] };
  const { logins } = (await (await fetch(`${server.url}/api/auth/logins`, { headers })).json()) as LoginList;
  expect(logins).toHaveLength(2);
});

test("logging out here logs out at the provider too, and comes back to the page", async () => {
  provider.people.set("1100", { ...groups("staff"), ...mail("out@example.org") });
  const browser = new CookieJar();
  const login = await exchange(await enter("1100", browser));
  const end = async ({ cookie, "x-convoke-proof": proof }: Login, body?: string): Promise<Response> =>
    await fetch(`${server.url}/api/auth/logout`, {
      method: "POST",
      headers: {
        cookie,
        "x-convoke-proof": proof,
        origin: server.url,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body }),
    });
  // The provider still knows the browser: nobody is asked.
  const again = await exchange(await enter(null, browser));
  const response = await end(login);
  expect([response.status, response.headers.getSetCookie()[0]]).toEqual([
    200,
    expect.stringContaining("Max-Age=0"),
  ]);
  const { provider_url } = (await response.json()) as { provider_url: string };
  const place = new URL(provider_url);
  expect(place.href.startsWith(`${provider.issuer}/session/end?`)).toBe(true);
  expect(place.searchParams.get("post_logout_redirect_uri")).toBe(`${server.url}/login`);
  expect(await statusOf(login)).toBe(401);
  const form = await (await browser.get(place)).text();
  const [, xsrf = ""] = /name="xsrf" value="([^"]+)"/.exec(form) ?? [];
  const confirm = new URL("/session/end/confirm", provider.issuer);
  const confirmed = await fetch(confirm, {
    method: "POST",
    redirect: "manual",
    headers: { cookie: browser.header(confirm), "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ xsrf, logout: "yes" }),
  });
  expect([confirmed.status, confirmed.headers.get("location")]).toEqual([303, `${server.url}/login`]);
  expect((await enter(null, browser)).get("e")).toBe("declined");
  // Ending all logins leads there as well.
  expect((await end(again, JSON.stringify({ everywhere: true }))).status).toBe(200);
});

test("a login that another browser made, and those of a server that is set so, end here alone", async () => {
  provider.people.set("1101", groups("staff"));
  const first = await exchange(await enter("1101"));
  const headers = { cookie: first.cookie, "x-convoke-proof": first["x-convoke-proof"], origin: server.url };
  const made = await fetch(`${server.url}/api/auth/tickets`, { method: "POST", headers });
  const { url } = (await made.json()) as { url: string };
  const other = await exchange(new URLSearchParams(new URL(url).hash.slice(1)));
  const end = async ({ cookie, "x-convoke-proof": proof }: Login): Promise<number> =>
    (
      await fetch(`${server.url}/api/auth/logout`, {
        method: "POST",
        headers: { cookie, "x-convoke-proof": proof, origin: server.url },
      })
    ).status;
  expect(await end(other)).toBe(204);
  await setOidc({ isLogoutThere: false });
  expect(await end(first)).toBe(204);
  expect(await end(await exchange(await enter("1101")))).toBe(204);
  await setOidc({});
});

test("the role is renewed at each login, up and down, also after an admin set another", async () => {
  provider.people.set("1002", groups("guests"));
  const first = await exchange(await enter("1002"));
  const { user_id: id } = first.reply;
  expect(id).toMatch(/^user-[0-9a-f]{12}$/);
  expect(await findUser(id)).toMatchObject({ role: "viewer" });
  await server.call("PATCH", `/api/users/${id}`, { role: "admin" });
  provider.people.set("1002", groups("guests", "staff"));
  await exchange(await enter("1002"));
  expect(await findUser(id)).toMatchObject({ role: "member" });
  provider.people.set("1002", groups("admins", "guests"));
  const admin = await exchange(await enter("1002"));
  expect(await statusOf(admin, "/api/users")).toBe(200);
  provider.people.set("1002", groups("guests"));
  await exchange(await enter("1002"));
  expect(await findUser(id)).toMatchObject({ role: "viewer" });
  expect(await statusOf(admin, "/api/users")).toBe(403);
});

test("who has no role is no user, and is told so; nor is who lost it", async () => {
  const before = (await server.call("GET", "/api/users")).text;
  provider.people.set("1003", groups("others", "Admins", "*"));
  expect((await enter("1003")).toString()).toBe("e=no_role");
  provider.people.set("1004", {});
  expect((await enter("1004")).toString()).toBe("e=no_role");
  expect((await server.call("GET", "/api/users")).text).toBe(before);
});

test("a person who declines is told so", async () => {
  expect((await enter(null)).toString()).toBe("e=declined");
});

test("a disabled user is refused, and logins and tickets from before have ended", async () => {
  provider.people.set("1005", { ...groups("staff"), ...mail("eve@example.org") });
  const login = await exchange(await enter("1005"));
  const ticket = await enter("1005");
  await server.call("PATCH", "/api/users/eve@example.org", { disabled: true });
  expect(await statusOf(login)).toBe(401);
  const redeemed = await server.call("POST", "/api/auth/login", { ticket: ticket.get("t") });
  expect(redeemed.status).toBe(401);
  expect((await enter("1005")).toString()).toBe("e=disabled");
  await server.call("PATCH", "/api/users/eve@example.org", { disabled: false });
  expect(await statusOf(await exchange(await enter("1005")))).toBe(200);
});

test("the way to the provider is bound to the browser, ends in ten minutes and has PKCE, state and nonce", async () => {
  const response = await fetch(`${server.url}/api/auth/oidc`, { redirect: "manual" });
  expect(response.status).toBe(302);
  const url = new URL(response.headers.get("location")!);
  expect(Object.fromEntries(url.searchParams)).toEqual({
    client_id: "convoke",
    response_type: "code",
    redirect_uri: `${server.url}/api/auth/oidc/callback`,
    scope: "openid email profile",
    state: expect.stringMatching(/^[\w-]{32}$/) as string,
    nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
    code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
    code_challenge_method: "S256",
  });
  expect(response.headers.get("set-cookie")).toMatch(
    /^convoke_oidc_[0-9a-f]{16}=[\w-]{32}; Max-Age=600; Path=\/api\/auth\/oidc; HttpOnly; SameSite=Lax$/,
  );
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("referrer-policy")).toBe("no-referrer");
});

test("an answer works once, and in the browser that began alone", async () => {
  provider.people.set("1006", groups("staff"));
  provider.person = "1006";
  const browser = new CookieJar();
  const callback = await browser.follow(`${server.url}/api/auth/oidc`, isCallback);
  const endOf = async (jar: CookieJar): Promise<string> => (await jar.follow(callback, isLoginPage)).hash;
  const other = new CookieJar();
  await other.follow(`${server.url}/api/auth/oidc`, isCallback);
  expect(await endOf(new CookieJar())).toBe("#e=expired");
  expect(await endOf(other)).toBe("#e=expired");
  const cookie = browser.header(callback);
  expect(await endOf(browser)).toMatch(/^#t=/);
  expect(browser.header(callback)).toBe("");
  // A browser that kept its cookie, with the address in its history.
  const replayed = await fetch(callback, { redirect: "manual", headers: { cookie } });
  expect(replayed.headers.get("location")).toBe(`${server.url}/login#e=expired`);
});

test("two tabs of one browser log in side by side", async () => {
  provider.people.set("1007", groups("staff"));
  provider.person = "1007";
  const browser = new CookieJar();
  const first = await browser.follow(`${server.url}/api/auth/oidc`, isCallback);
  const second = await browser.follow(`${server.url}/api/auth/oidc`, isCallback);
  for (const callback of [second, first])
    expect((await browser.follow(callback, isLoginPage)).hash).toMatch(/^#t=/);
});

test.each([
  "https://evil.example",
  "//evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "/\t/evil.example",
  "javascript:alert(1)",
  "c/1",
  "/c\r\nset-cookie: x=y",
])("%j is no place to go to after a login", async (place) => {
  provider.people.set("1008", groups("staff"));
  const fragment = await enter("1008", new CookieJar(), `?return_to=${encodeURIComponent(place)}`);
  expect(fragment.get("to")).toBe("/");
});

test("a login ends with the ID token, as does one that it makes; the operator may set another time", async () => {
  provider.people.set("1009", groups("staff"));
  const { reply, ...login } = await exchange(await enter("1009"));
  // The library's ID tokens last an hour.
  const hours = (text: string): number => Math.round((Date.parse(text) - Date.now()) / 360_000) / 10;
  expect(hours(reply.expires_at)).toBe(1);
  const headers = { ...login, origin: server.url };
  const made = await fetch(`${server.url}/api/auth/tickets`, { method: "POST", headers });
  const { url } = (await made.json()) as { url: string };
  const second = await exchange(new URLSearchParams(new URL(url).hash.slice(1)));
  expect(second.reply.expires_at).toBe(reply.expires_at);
  await setOidc({ loginMs: 12 * 3_600_000 });
  expect(hours((await exchange(await enter("1009"))).reply.expires_at)).toBe(12);
  await setOidc({});
});

test("without the provider in the configuration its logins have ended, and there is no way to it", async () => {
  provider.people.set("1010", groups("staff"));
  const login = await exchange(await enter("1010"));
  await server.restart({ oidc: null });
  expect(await statusOf(login)).toBe(401);
  expect(await (await fetch(`${server.url}/api/auth/methods`)).json()).toEqual({ oidc: null });
  for (const path of ["/api/auth/oidc", "/api/auth/oidc/callback?state=x"]) {
    const response = await fetch(`${server.url}${path}`, { redirect: "manual" });
    expect([response.status, await response.json()]).toMatchObject([404, { code: "no_oidc" }]);
  }
  await setOidc({});
  expect(await statusOf(login)).toBe(200);
});

test("only verified addresses of the configured domains are let in", async () => {
  await setOidc({ domains: ["example.org"] });
  const endOf = async (claims: object): Promise<string | undefined> => {
    provider.people.set("1011", { ...groups("staff"), ...claims });
    return (await enter("1011")).toString().split("&", 1)[0]?.replace(/^t=.*/, "in");
  };
  expect(await endOf(mail("ada@EXAMPLE.org"))).toBe("in");
  expect(await endOf(mail("ada@example.org", false))).toBe("e=unverified_email");
  expect(await endOf({ email: "ada@example.org" })).toBe("e=unverified_email");
  expect(await endOf({})).toBe("e=unverified_email");
  for (const email of ["ada@evil.example", "ada@example.org.evil.example", "ada@sub.example.org"])
    expect(await endOf(mail(email))).toBe("e=wrong_domain");
  expect(await endOf(mail("ada@example.org@evil.example"))).toBe("e=unverified_email");
  await setOidc({});
});

test("a browser that comes back to another node is logged in, on both", async () => {
  await using own = await startCertifiedProvider();
  const config = { ...(await readTestedStore()), oidc: oidcSettingsOf(own) };
  await using one = await startTestServer({ config });
  const folder = config.database ? {} : { dataDir: one.dataDir };
  await using other = await startTestServer({ config: { ...config, ...folder } });
  own.register(`${one.url}/api/auth/oidc/callback`);
  own.people.set("1", groups("staff"));
  own.person = "1";
  const browser = new CookieJar();
  const callback = await browser.follow(`${one.url}/api/auth/oidc`, isCallback);
  const there = `${other.url}${callback.pathname}${callback.search}`;
  const cookie = browser.header(callback);
  const response = await fetch(there, { redirect: "manual", headers: { cookie } });
  const end = new URL(response.headers.get("location")!);
  const login = await exchange(new URLSearchParams(end.hash.slice(1)), one);
  const { cookie: half, "x-convoke-proof": proof } = login;
  const statusAt = async ({ url }: TestServer): Promise<number> =>
    (
      await fetch(`${url}/api/tools/`, {
        headers: { cookie: half.replace(/^\w+/, nameAt(url)), "x-convoke-proof": proof },
      })
    ).status;
  for (const node of [one, other]) await expect.poll(() => statusAt(node)).toBe(200);
});

/** The name of the login's cookie has the port in it. */
function nameAt(url: string): string {
  return `convoke_${new URL(url).port}`;
}

test("behind a proxy the provider sends the browser to the configured address", async () => {
  await using own = await startCertifiedProvider();
  const webUrl = "https://agents.example.org/convoke";
  await using behind = await startTestServer({ config: { oidc: oidcSettingsOf(own), webUrl } });
  own.register(`${webUrl}/api/auth/oidc/callback`);
  const response = await fetch(`${behind.url}/api/auth/oidc`, { redirect: "manual" });
  const url = new URL(response.headers.get("location")!);
  expect(url.searchParams.get("redirect_uri")).toBe(`${webUrl}/api/auth/oidc/callback`);
  expect(response.headers.get("set-cookie")).toMatch(
    /; Path=\/convoke\/api\/auth\/oidc; HttpOnly; SameSite=Lax; Secure$/,
  );
  const late = await fetch(`${behind.url}/api/auth/oidc/callback?state=x&code=y`, { redirect: "manual" });
  expect(late.headers.get("location")).toBe(`${webUrl}/login#e=expired`);
});

test("the audit log has logins and refusals with person and role, and neither code, state, ticket nor token", async () => {
  await using own = await startCertifiedProvider();
  await using audited = await startTestServer({ config: { oidc: oidcSettingsOf(own) } });
  own.register(`${audited.url}/api/auth/oidc/callback`);
  own.people.set("7", groups("staff"));
  own.people.set("8", groups("others"));
  const addresses: URL[] = [];
  const note = (isEnd: (url: URL) => boolean) => (url: URL) => {
    addresses.push(url);
    return isEnd(url);
  };
  for (const person of ["7", "8"]) {
    own.person = person;
    await new CookieJar().follow(`${audited.url}/api/auth/oidc`, note(isLoginPage));
  }
  await fetch(`${audited.url}/api/auth/oidc/callback?state=x`, { redirect: "manual" });
  await audited.close();
  const { calls, refusals } = await readAudit(audited.dataDir);
  const route = "/api/auth/oidc/callback";
  expect(calls).toMatchObject([
    {
      user: expect.stringMatching(/^user-/) as string,
      means: "oidc",
      route,
      status: 302,
      note: { oidc: { issuer: own.issuer, subject: "7", role: "member", is_new: true } },
    },
  ]);
  expect(refusals).toMatchObject([
    { user: null, route, note: { oidc: { refused: "no_role", subject: "8" } } },
    { user: null, route, note: { oidc: { refused: "expired" } } },
  ]);
  const written = JSON.stringify([calls, refusals, audited.log]);
  const secrets = addresses.flatMap(({ searchParams, hash }) => [
    searchParams.get("code"),
    searchParams.get("state"),
    new URLSearchParams(hash.slice(1)).get("t"),
  ]);
  for (const secret of [own.clientSecret, ...secrets])
    if (secret !== null) expect(written).not.toContain(secret);
});
