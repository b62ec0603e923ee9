import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startTestServer } from "../../../testing/start-server.ts";

const origin = "https://strange.example";
const path = "/api/auth/workspace-session";

test("clients 10: a page that has the key gets the workspace cookie from any origin, and no other page does", async () => {
  await using server = await startTestServer();
  const preflight = await fetch(`${server.url}${path}`, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-session-api-key",
    },
  });
  expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, origin]);
  const given = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { origin, "x-session-api-key": server.key },
  });
  expect([given.status, given.headers.get("access-control-allow-origin")]).toEqual([204, origin]);
  expect(given.headers.get("set-cookie")).toContain("HttpOnly");
  for (const [headers, status] of [
    [{ origin }, 403],
    [{ origin, cookie: String(given.headers.get("set-cookie")).split(";")[0]! }, 403],
    [{ origin, "x-session-api-key": "wrong" }, 401],
  ] as const) {
    const refused = await fetch(`${server.url}${path}`, { method: "POST", headers });
    expect([refused.status, refused.headers.get("set-cookie")]).toEqual([status, null]);
  }
  const other = await fetch(`${server.url}/api/conversations/count`, {
    headers: { origin, "x-session-api-key": server.key },
  });
  expect(other.status).toBe(403);
});

test("clients 10: a page reads files with the cookie that was given to it, and no page with one that was given to another", async () => {
  await using server = await startTestServer();
  const { id: conversation } = await server.createConversation();
  for (const name of ["a.txt", "a.html"]) await writeFile(join(server.workspaceDir, name), "the text");
  const files = `${server.url}/api/conversations/${conversation}/workspace`;
  const cookieFor = async (page?: string): Promise<string> => {
    const headers = { "x-session-api-key": server.key, ...(page === undefined ? {} : { origin: page }) };
    const given = await fetch(`${server.url}${path}`, { method: "POST", headers });
    return String(given.headers.get("set-cookie")).split(";")[0]!;
  };
  const [victim, attacker, own, nobody] = [
    await cookieFor(origin),
    await cookieFor("https://evil.example"),
    await cookieFor(),
    await cookieFor("null"),
  ];
  const read = async (name: string, cookie: string, page: string | null, more: RequestInit = {}) => {
    const headers = { cookie, ...(page === null ? {} : { origin: page }), ...(more.headers as object) };
    return await fetch(`${files}/${name}`, { redirect: "manual", ...more, headers });
  };
  for (const name of ["a.txt", "a.html"]) {
    const got = await read(name, `${attacker}; ${victim}`, origin);
    expect([got.status, await got.text()]).toEqual([200, "the text"]);
    expect(got.headers.get("access-control-allow-origin")).toBe(origin);
    expect(got.headers.get("access-control-allow-credentials")).toBe("true");
    expect(got.headers.get("vary")).toContain("Origin");
  }
  expect((await read("a.txt", victim, null)).status).toBe(200);
  expect((await read("a.txt", victim, server.url)).status).toBe(200);
  for (const [cookie, page] of [
    [victim, "https://evil.example"],
    [victim, "https://strange.example.evil.example"],
    [victim, "http://strange.example"],
    [victim, "https://strange.example:8443"],
    [victim, "null"],
    [attacker, origin],
    [own, origin],
    [nobody, "null"],
    [victim.replace("=v1.", "=v1.x"), origin],
    ["", origin],
  ] as const) {
    const refused = await read("a.txt", cookie, page);
    expect([cookie, page, refused.status]).toEqual([cookie, page, 403]);
    expect(refused.headers.get("access-control-allow-origin")).toBeNull();
  }
  // The key alone does not let a strange page in, nor does the cookie to anything but reading files.
  expect((await read("a.txt", "", origin, { headers: { "x-session-api-key": server.key } })).status).toBe(
    403,
  );
  expect((await read("a.txt", victim, origin, { method: "DELETE" })).status).toBe(403);
  for (const other of [`/api/conversations/${conversation}`, "/api/conversations/search", path])
    expect((await fetch(`${server.url}${other}`, { headers: { cookie: victim, origin } })).status).toBe(403);
  const preflight = await read("a.txt", "", origin, {
    method: "OPTIONS",
    headers: { "access-control-request-method": "GET", "access-control-request-headers": "if-none-match" },
  });
  expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, origin]);
});

test("clients 10: where nobody needs a key, no cookie lets a strange page in", async () => {
  await using server = await startTestServer({ config: { isAuthDisabled: true } });
  const { id: conversation } = await server.createConversation();
  await writeFile(join(server.workspaceDir, "a.txt"), "the text");
  const refused = await fetch(`${server.url}/api/conversations/${conversation}/workspace/a.txt`, {
    headers: { origin, cookie: "oh_workspace_session_key=x" },
  });
  expect(refused.status).toBe(403);
});
