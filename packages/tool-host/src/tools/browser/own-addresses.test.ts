import { expect, test } from "vitest";
import { networkInterfaces } from "node:os";
import { OwnAddresses } from "./own-addresses.ts";

const own = new OwnAddresses(["127.0.0.1:8000", "[::1]:8000"]);
const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .map(({ address }) => address);

test.each([
  "127.0.0.1",
  "127.8.9.10",
  "0.0.0.0",
  "0.1.2.3",
  "::1",
  "[::1]",
  "::",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "[::ffff:0.0.0.0]",
  "::127.0.0.1",
  "::ffff:0:127.0.0.1",
  "64:ff9b::127.0.0.1",
  "2002:7f00:1::",
  ...outside,
])("hardening 5: %s is this machine, and closed at the closed port alone", (address) => {
  expect(own.isClosed(address, 8000)).toBe(true);
  expect(own.isClosed(address, 8001)).toBe(false);
});

test.each(["192.0.2.7", "2001:db8::1", "::ffff:192.0.2.7", "localhost"])(
  "%s is no address of this machine",
  (address) => {
    expect(own.isClosed(address, 8000)).toBe(false);
  },
);

test.each(["localhost", "localhost.", "x.LocalHost"])(
  "hardening 5: the name %s leads nowhere at a closed port",
  async (name) => {
    const fetchOutcome = (port: number): Promise<string> =>
      new Promise((resolve) => {
        let refused = "";
        const find = own.lookupFor(port, () => (refused = "refused"));
        find(name, {}, (error) => resolve(refused || (error === null ? "found" : "failed")));
      });
    expect(await fetchOutcome(8000)).toBe("refused");
    expect(await fetchOutcome(8001)).toBe("found");
  },
);
