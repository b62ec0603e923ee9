import { expect, test } from "vitest";
import { findParentProxy } from "./find-parent-proxy.ts";

const variables = {
  HTTPS_PROXY: "http://proxy.example:3128",
  no_proxy: "localhost, .corp.example,*.lab.example db.example:5432,10.0.0.1",
};

test.each([
  ["files.example.com", 443, true],
  ["corp.example", 443, false],
  ["a.corp.example", 443, false],
  ["notcorp.example", 443, true],
  ["a.lab.example", 443, false],
  ["db.example", 5432, false],
  ["db.example", 443, true],
  ["10.0.0.1", 80, false],
])("%s:%i through the proxy: %s", (host, port, isThrough) => {
  expect(findParentProxy(variables)(host, port)?.href).toBe(
    isThrough ? "http://proxy.example:3128/" : undefined,
  );
});

test("without a proxy, or with an asterisk, all is direct", () => {
  expect(findParentProxy({})("a.example", 443)).toBeNull();
  expect(findParentProxy({ all_proxy: "http://proxy.example", NO_PROXY: "*" })("a.example", 443)).toBeNull();
});

test.each(["socks5://proxy.example", "proxy.example:3128", "http://"])(
  "%s is not taken for a proxy",
  (address) => {
    expect(() => findParentProxy({ https_proxy: address })).toThrow(
      "https_proxy must be an address such as http://proxy.example.org:3128.",
    );
  },
);
