import { expect, test } from "vitest";
import { compilePattern } from "../lib/foreign-pattern.ts";
import { createGuard, unclearTarget } from "./guard.ts";

const guard = createGuard({
  boundHost: "127.0.0.1",
  allowedHosts: ["agents.example.org", "*.lab.example"],
  allowedOrigins: ["https://app.example.org/", "app://desktop"],
});

const keyless = createGuard({
  boundHost: "127.0.0.1",
  allowedHosts: [],
  allowedOrigins: ["http://127.0.0.1:3000"],
  isKeyless: true,
});

test.each([
  ["127.0.0.1:8000", undefined],
  ["localhost:8000", undefined],
  ["[::1]:8000", "http://localhost:3000"],
  ["agents.example.org", "https://agents.example.org"],
  ["a.lab.example:443", undefined],
  ["localhost", "https://app.example.org"],
  ["localhost", "app://desktop"],
])("P3: host %s with origin %s is served", (host, origin) => {
  expect(guard.refusal(host, origin)).toBe(null);
});

test.each([
  ["evil.example", undefined],
  [undefined, undefined],
  ["10.0.0.7:8000", undefined],
  ["localhost:8000", "https://evil.example"],
  ["localhost:8000", "null"],
  ["127.0.0.1.evil.example", undefined],
  ["localhost", "tauri://localhost"],
  ["localhost:8000", "capacitor://localhost:8000"],
  ["localhost", "javascript://localhost"],
  ["localhost@evil.example", undefined],
])("P3, security 31: host %s with origin %s is refused", (host, origin) => {
  expect(guard.refusal(host, origin)).not.toBe(null);
});

test("P3: a server bound beyond loopback is reached by address, not by an unknown name", () => {
  const open = createGuard({ boundHost: "0.0.0.0", allowedHosts: [], allowedOrigins: [] });
  expect(open.refusal("10.0.0.7:8000", undefined)).toBe(null);
  expect(open.refusal("evil.example", undefined)).not.toBe(null);
});

test.each([
  ["localhost:8000", "http://localhost:3000", false],
  ["127.0.0.1:8000", "http://localhost:8000", false],
  ["127.0.0.1:8000", "null", false],
  ["127.0.0.1:8000", "http://127.0.0.1:8000", true],
  ["127.0.0.1:8000", "http://127.0.0.1:3000", true],
  ["127.0.0.1:8000", undefined, true],
])("U21: without keys, host %s with origin %s: served is %s", (host, origin, isServed) => {
  expect(keyless.refusal(host, origin) === null).toBe(isServed);
});

test.each([
  [{ "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" }, false],
  [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" }, false],
  [{ "sec-fetch-site": "same-site", referer: "http://127.0.0.1:4000/" }, false],
  [{ "sec-fetch-site": "same-site", referer: "http://127.0.0.1:3000/" }, true],
  [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }, true],
  [{ "sec-fetch-site": "same-origin" }, true],
  [{ "sec-fetch-site": "none" }, true],
  [{}, true],
])("U21: without keys, a page that embeds with %j: served is %s", (headers, isServed) => {
  const asked = { host: "127.0.0.1:8000", ...headers };
  expect(keyless.embeddingRefusal("/api/file/download?path=/etc/x.js", asked) === null).toBe(isServed);
  expect(keyless.embeddingRefusal("/api/conversations/1/workspace/style.css", asked)).toBe(null);
  expect(guard.embeddingRefusal("/api/file/download?path=/etc/x.js", asked)).toBe(null);
});

test.each([
  ["/alive", ["Host", "localhost", "host", "localhost"]],
  ["http://evil.example/alive", ["Host", "localhost"]],
  ["evil.example:443", ["Host", "localhost"]],
])("security 32: %s with %j does not say clearly whom it asks", (url, rawHeaders) => {
  expect(unclearTarget(url, rawHeaders, rawHeaders[1])).toMatch(/\.$/);
});

test.each([
  ["/alive", "localhost"],
  ["*", "localhost"],
  ["http://LOCALHOST:8000/alive", "localhost:8000"],
  ["http://localhost/alive", "localhost:80"],
])("security 32: %s at %s is clear", (url, host) => {
  expect(unclearTarget(url, ["Accept", "Host", "Host", host], host)).toBe(null);
});

test("clients 10: an expression allows whole origins, and the machine's name for containers is as loopback", () => {
  const options = {
    boundHost: "127.0.0.1",
    allowedHosts: [],
    allowedOrigins: [],
    originPattern: compilePattern(String.raw`https://[a-z]+\.example\.org`, { anchor: "whole" }),
    machineName: "host.docker.internal",
  };
  const configured = createGuard(options);
  const without = createGuard({ ...options, isKeyless: true });
  for (const [origin, withKey, withoutKey] of [
    ["https://app.example.org", true, true],
    ["https://app.example.org.evil.example", false, false],
    ["https://evil.example/https://app.example.org", false, false],
    ["http://host.docker.internal:3000", true, false],
    ["http://localhost:3000", true, false],
  ] as const) {
    expect([origin, configured.isOriginAllowed(origin, "localhost:8000")]).toEqual([origin, withKey]);
    expect([origin, without.isOriginAllowed(origin, "localhost:8000")]).toEqual([origin, withoutKey]);
  }
  expect(configured.refusal("host.docker.internal:8000", undefined)).toBeNull();
  expect(
    createGuard({ ...options, machineName: null }).refusal("host.docker.internal", undefined),
  ).not.toBeNull();
});

test("clients 10: only with a key in its header does a request for the workspace cookie prove who sends it", () => {
  const path = "/api/auth/workspace-session";
  const key = { "x-session-api-key": "k" };
  expect(guard.provesItself("POST", path, key)).toBe(true);
  expect(guard.provesItself("OPTIONS", path, {})).toBe(true);
  expect(guard.provesItself("POST", path, { cookie: "a=b" })).toBe(false);
  expect(guard.provesItself("POST", `${path}/more`, key)).toBe(false);
  expect(guard.provesItself("POST", "/api/conversations", key)).toBe(false);
  expect(keyless.provesItself("POST", path, key)).toBe(false);
  expect(keyless.provesItself("OPTIONS", path, {})).toBe(false);
});
