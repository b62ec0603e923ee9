import { BlockList, isIP } from "node:net";
import { ConfigError } from "./config-error.ts";

/** True for an address in the list; an IPv4 address may be written as IPv6 has it (`::ffff:10.0.0.1`). */
export type AddressList = (address: string) => boolean;

/** Addresses and networks such as `10.0.0.0/8`. Throws a {@link ConfigError} that names the `variable` they come from. */
export function toAddressList(entries: readonly string[], variable: string): AddressList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", bits, ...rest] = entry.split("/");
    const [family, widest] = address.includes(":") ? (["ipv6", 128] as const) : (["ipv4", 32] as const);
    const length = Number(bits ?? widest);
    const isLength = rest.length === 0 && /^\d+$/.test(bits ?? "0") && length <= widest;
    if (!isLength || !addSubnet(list, address, length, family)) {
      throw new ConfigError(`${variable} must list addresses or networks as 10.0.0.0/8, not "${entry}".`);
    }
  }
  return (address) => list.check(...familyOf(address));
}

/** False when the list does not take the address. The list checks it, because each start would wait some milliseconds for `isIP`. */
function addSubnet(list: BlockList, address: string, length: number, family: "ipv4" | "ipv6"): boolean {
  try {
    list.addSubnet(address, length, family);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_INVALID_ADDRESS") return false;
    throw error;
  }
}

function familyOf(address: string): [string, "ipv4" | "ipv6"] {
  const [, inner] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  const plain = inner ?? address;
  return isIP(plain) === 6 ? [plain, "ipv6"] : [isIP(plain) === 4 ? plain : "0.0.0.0", "ipv4"];
}
