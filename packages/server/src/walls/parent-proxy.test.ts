import { expect, test } from "vitest";
import { parentProxyOf } from "./parent-proxy.ts";

test("hosts are reached through the machine's proxy, but for those that it names", () => {
  const proxyOf = parentProxyOf({
    HTTPS_PROXY: "http://proxy.corp.example:3128",
    http_proxy: "plain.corp.example:80",
    NO_PROXY: "localhost, .corp.example, db.example:5432",
  });
  expect(proxyOf("example.com", 443)?.host).toBe("proxy.corp.example:3128");
  expect(proxyOf("example.com", 80)?.hostname).toBe("plain.corp.example");
  expect(proxyOf("git.corp.example", 443)).toBeNull();
  expect(proxyOf("db.example", 5432)).toBeNull();
  expect(proxyOf("db.example", 443)?.host).toBe("proxy.corp.example:3128");
});

test("without a proxy, with one that cannot be read, and with * there is none", () => {
  expect(parentProxyOf({})("example.com", 443)).toBeNull();
  expect(parentProxyOf({ HTTPS_PROXY: "socks5://x:1" })("example.com", 443)).toBeNull();
  expect(parentProxyOf({ HTTPS_PROXY: "http://x:1", no_proxy: "*" })("example.com", 443)).toBeNull();
});
