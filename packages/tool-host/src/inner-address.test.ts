import { expect, test } from "vitest";
import { innerAddress } from "./inner-address.ts";

test.each([
  ["127.0.0.1", "127.0.0.1"],
  ["[::ffff:127.0.0.1]", "127.0.0.1"],
  ["::ffff:7f00:1", "127.0.0.1"],
  ["::7f00:1", "127.0.0.1"],
  ["::ffff:0:10.0.0.1", "10.0.0.1"],
  ["64:ff9b::a9fe:a9fe", "169.254.169.254"],
  ["2002:7f00:1::", "127.0.0.1"],
  ["2606:4700::5efe:10.0.0.1", "10.0.0.1"],
  ["2606:4700::200:5efe:10.0.0.1", "10.0.0.1"],
  ["fe80::1%eth0", "fe80::1"],
  ["::1", "::1"],
  ["2606:4700::1111", "2606:4700::1111"],
  ["example.com", "example.com"],
])("%s is %s", (address, inner) => {
  expect(innerAddress(address)).toBe(inner);
});
