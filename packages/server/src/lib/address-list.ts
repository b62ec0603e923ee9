import { BlockList, isIP } from "node:net";
import { ConfigError } from "./config-error.ts";

/** True for an address in the list; an IPv4 address may be written as IPv6 has it (`::ffff:10.0.0.1`). */
export type AddressList = (address: string) => boolean;

/** Addresses and networks such as `10.0.0.0/8`. Throws a {@link ConfigError} that names the `variable` they come from. */
export function toAddressList(entries: readonly string[], variable: string): AddressList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", bits, ...rest] = entry.split("/");
    const family = isIP(address);
    const widest = family === 4 ? 32 : 128;
    const length = bits === undefined ? widest : Number(bits);
    if (family === 0 || rest.length > 0 || !Number.isInteger(length) || length < 0 || length > widest) {
      throw new ConfigError(`${variable} must list addresses or networks as 10.0.0.0/8, not "${entry}".`);
    }
    list.addSubnet(address, length, family === 4 ? "ipv4" : "ipv6");
  }
  return (address) => list.check(...familyOf(address));
}

function familyOf(address: string): [string, "ipv4" | "ipv6"] {
  const [, inner] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  const plain = inner ?? address;
  return isIP(plain) === 6 ? [plain, "ipv6"] : [isIP(plain) === 4 ? plain : "0.0.0.0", "ipv4"];
}
