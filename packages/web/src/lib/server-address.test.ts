import { expect, test } from "vitest";
import { pagePrefix, serverAddress } from "./server-address.ts";

test.each([
  ["http://127.0.0.1:8000/", "http://127.0.0.1:8000", ""],
  ["https://example.org/convoke/", "https://example.org/convoke", "/convoke"],
  ["https://example.org/a/b/", "https://example.org/a/b", "/a/b"],
])("a page at %s finds the server and its own prefix", (baseUri, server, prefix) => {
  expect(serverAddress(baseUri)).toBe(server);
  expect(pagePrefix(baseUri)).toBe(prefix);
});
