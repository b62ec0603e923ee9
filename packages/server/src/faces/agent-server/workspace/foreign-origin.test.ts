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
