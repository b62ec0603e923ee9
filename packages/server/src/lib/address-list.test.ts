import { expect, test } from "vitest";
import { toAddressList } from "./address-list.ts";

test.each([
  ["10.0.0.0/8", "10.1.2.3", "11.0.0.0"],
  ["10.0.0.0/8", "::ffff:10.1.2.3", "::ffff:11.0.0.0"],
  ["192.0.2.1", "192.0.2.1", "192.0.2.2"],
  ["fd00::/8", "fd00:ec2::254", "fe80::1"],
  ["::1", "::1", "::2"],
  ["0.0.0.0/0", "192.0.2.1", "::1"],
])("%s has %s, and not %s", (entry, inside, outside) => {
  const isListed = toAddressList([entry], "LIST");
  expect([isListed(inside), isListed(outside)]).toEqual([true, false]);
});

test.each([
  "",
  "example.com",
  "10.0.0/8",
  "10.0.0.0/",
  "10.0.0.0/33",
  "10.0.0.0/8/8",
  "10.0.0.0/-1",
  "10.0.0.0/1e1",
  "::1/129",
  "1::2::3",
  " 10.0.0.1",
])("%j is refused with the name of the variable", (entry) => {
  expect(() => toAddressList(["127.0.0.1", entry], "LIST")).toThrow(
    `LIST must list addresses or networks as 10.0.0.0/8, not "${entry}".`,
  );
});
