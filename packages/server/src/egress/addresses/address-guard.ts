import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { innerAddress } from "@convoke/tool-host";
import { toAddressList } from "../../lib/address-list.ts";

/** Why no wall may reach an address: it is not public, or the server itself listens there. */
export type AddressProblem = "private-address" | "own-listener";

/** Checks an address and port; null where a wall may connect. `mayBePrivate` when the policy lists the host as private. */
export type AddressGuard = (address: string, port: number, mayBePrivate: boolean) => AddressProblem | null;

/**
 * What is not public (IANA's registries of special-purpose addresses), and the addresses at which clouds serve keys to their machines.
 * Azure's is the only one of these that looks public.
 */
const notPublic =
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16`.split(
    /\s+/,
  );
/** Teredo and other protocol assignments, documentation; and translation by whatever rule a local network has. */
const notPublicIpv6 = ["2001::/23", "2001:db8::/32", "3fff::/20", "64:ff9b:1::/48"];
const publicIpv6 = ["2000::/3"];

/** `isOwnListener` says where the server itself listens: never reachable, whatever a policy lists. */
export function createAddressGuard(isOwnListener: (address: string, port: number) => boolean): AddressGuard {
  const isSpecial = toAddressList([...notPublic, ...notPublicIpv6], "The address guard");
  const isGlobal = toAddressList(publicIpv6, "The address guard");
  const isPublic = (address: string, plain: string): boolean => {
    // A zone names an interface of this machine.
    if (isIP(address) === 0 || address.includes("%")) return false;
    if ([address, plain].some((form) => isSpecial(form) || isOfThisMachine(form))) return false;
    return isIP(plain) === 4 || isGlobal(plain);
  };
  return (address, port, mayBePrivate) => {
    const plain = innerAddress(address);
    if (isOwnListener(plain, port)) return "own-listener";
    return mayBePrivate || isPublic(address, plain) ? null : "private-address";
  };
}

function isOfThisMachine(address: string): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some((own) => own.address === address),
  );
}
