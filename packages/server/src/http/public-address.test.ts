import { expect, test } from "vitest";
import { createPublicAddress } from "./public-address.ts";

const from = (remoteAddress: string, headers: Record<string, string>) =>
  ({ headers: { host: "inside:8000", ...headers }, socket: { remoteAddress } }) as never;

const forwarded = {
  "x-forwarded-proto": "https",
  "x-forwarded-host": "agents.example.org",
  "x-forwarded-prefix": "/convoke/",
};

test("P16: headers of trusted proxies make the address, those of strangers do not", () => {
  const addressOf = createPublicAddress(["10.0.0.0/8", "::1", "192.0.2.7"]);
  for (const proxy of ["10.1.2.3", "::1", "::ffff:10.9.9.9", "192.0.2.7"]) {
    expect(addressOf(from(proxy, forwarded))).toBe("https://agents.example.org/convoke");
  }
  for (const stranger of ["11.0.0.1", "192.0.2.8", "::2", ""]) {
    expect(addressOf(from(stranger, forwarded))).toBe("http://inside:8000");
  }
  expect(createPublicAddress([])(from("127.0.0.1", forwarded))).toBe("http://inside:8000");
});

test("a configured address wins over what requests say", () => {
  const addressOf = createPublicAddress(["10.0.0.1"], "https://web.example/a");
  expect(addressOf(from("10.0.0.1", forwarded))).toBe("https://web.example/a");
  expect(addressOf(from("11.0.0.1", {}))).toBe("https://web.example/a");
});

test("the nearest proxy's value of a list is used, and invalid hosts and paths are ignored", () => {
  const addressOf = createPublicAddress(["10.0.0.1"]);
  const at = (headers: Record<string, string>) => addressOf(from("10.0.0.1", headers));
  expect(at({ "x-forwarded-proto": "http, https" })).toBe("https://inside:8000");
  expect(at({ "x-forwarded-host": "evil.example, good.example:8443" })).toBe("http://good.example:8443");
  expect(at({ "x-forwarded-host": "a b" })).toBe("http://inside:8000");
  expect(at({ "x-forwarded-prefix": "//evil.example" })).toBe("http://inside:8000");
  expect(at({ "x-forwarded-prefix": "/a/../b?c" })).toBe("http://inside:8000");
  expect(at({ "x-forwarded-proto": "javascript" })).toBe("http://inside:8000");
});

test.each(["10.0.0.0/33", "proxy.example", "", "1.2.3.4/5/6"])("%j is refused as a proxy", (proxy) => {
  expect(() => createPublicAddress([proxy])).toThrow("CONVOKE_TRUSTED_PROXIES");
});
