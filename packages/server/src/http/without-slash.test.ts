import { agentFaceRoutes, appFaceRoutes, type Route } from "@convoke/protocol";
import { expect, test } from "vitest";
import { startTestServer } from "../testing/start-server.ts";
import { hasSlashes, placeWithoutSlash } from "./without-slash.ts";

test("clients 14: every route with a slash at its end is sent to the one without, whatever its method", async () => {
  await using server = await startTestServer();
  const routes: readonly Route[] = [...Object.values(agentFaceRoutes), ...Object.values(appFaceRoutes)];
  const notServed: string[] = [];
  let sent = 0;
  for (const route of routes.filter((one) => !hasSlashes(one, routes))) {
    const path = route.path.replaceAll(/\{\w+\}/g, "a%2Fb");
    const url = `${server.url}/prefix${path}/?q=%2F`;
    const hasBody = "body" in route && route.body !== undefined && route.method !== "GET";
    const body = hasBody ? { body: "{", headers: { "content-type": "application/json" } } : {};
    const reply = await fetch(`${server.url}${path}/?q=%2F`, {
      method: route.method,
      redirect: "manual",
      ...body,
    });
    if (reply.status === 404) {
      notServed.push(route.path);
      continue;
    }
    sent += 1;
    const place = new URL(reply.headers.get("location") ?? "", url).href;
    const expected = `${server.url}/prefix${path}?q=%2F`;
    expect([route.method, route.path, reply.status, place]).toEqual([
      route.method,
      route.path,
      307,
      expected,
    ]);
  }
  expect(sent).toBeGreaterThan(200);
  expect(notServed).toEqual([]);
});

test("clients 14: a server of the settings is made by a request with a slash, once", async () => {
  await using server = await startTestServer();
  const url = `${server.url}/api/settings/mcp/github/`;
  const options = {
    method: "POST",
    headers: { "X-Session-API-Key": server.key, "content-type": "application/json" },
    body: JSON.stringify({ url: "https://mcp.example.org" }),
  };
  expect((await fetch(url, options)).status).toBe(201);
  expect((await fetch(url, options)).status).toBe(409);
});

test("clients 14: files and routes that end with a slash are where they were", async () => {
  await using server = await startTestServer();
  for (const path of ["/api/tools/", "/api/tools", "/"]) {
    const reply = await fetch(`${server.url}${path}`, {
      redirect: "manual",
      headers: { "X-Session-API-Key": server.key },
    });
    expect([path, reply.status]).toEqual([path, 200]);
  }
  const page = await fetch(`${server.url}/api/conversations/${crypto.randomUUID()}/workspace/`, {
    redirect: "manual",
    headers: { "X-Session-API-Key": server.key },
  });
  expect(page.status).toBe(404);
});

test("clients 14: no address leads to another origin", () => {
  for (const url of [
    "//evil.example/",
    "///evil.example/",
    "/\\evil.example/",
    "http://evil.example/a/",
    "/a//",
    "/a",
    "/",
  ]) {
    const place = placeWithoutSlash(url);
    const { origin } = new URL(place ?? "", "http://here.example/a/b/");
    expect([url, origin]).toEqual([url, "http://here.example"]);
  }
  expect(placeWithoutSlash("/api/x/https:evil.example/?to=/y/")).toBe("../https:evil.example?to=/y/");
  expect(placeWithoutSlash("//evil.example/")).toBeNull();
});
