import { expect, test } from "vitest";
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
