import { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { createAddressGuard } from "./address-guard.ts";

const guard = createAddressGuard((address, port) => address === "127.0.0.1" && port === 8000);

const refused = `127.0.0.1 127.9.9.9 0.0.0.0 10.1.2.3 172.16.0.1 172.31.255.255 192.168.0.1 169.254.169.254 100.64.0.1
  100.100.100.200 192.0.0.192 168.63.129.16 224.0.0.1 255.255.255.255 198.18.0.1 203.0.113.7 192.0.2.1
  :: ::1 fe80::1 fc00::1 fd00:ec2::254 ff02::1 2001:db8::1 2001::1 5f00::1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::127.0.0.1
  64:ff9b::10.0.0.1 64:ff9b:1::8.8.8.8 2002:a00:1::1 2606:4700::5efe:10.0.0.1 fe80::1%eth0 example.com`;

test.each(refused.split(/\s+/))("%s is not reachable, unless the policy lists it", (address) => {
  expect(guard(address, 443, false)).toBe("private-address");
  expect(guard(address, 443, true)).toBeNull();
});

test.each(["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2002:101:101::", "64:ff9b::1.1.1.1"])(
  "%s is public",
  (address) => {
    expect(guard(address, 443, false)).toBeNull();
  },
);

test("an address of this machine is not reachable", () => {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  for (const { address } of own) expect(guard(address, 443, false)).toBe("private-address");
});

test("a listener of the server's own is never reachable, in whatever form its address is written", () => {
  for (const address of ["127.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"]) {
    expect(guard(address, 8000, true)).toBe("own-listener");
    expect(guard(address, 8001, true)).toBeNull();
  }
});
