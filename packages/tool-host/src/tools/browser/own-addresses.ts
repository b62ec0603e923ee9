import { lookup as resolveName, type LookupAddress } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
import { innerAddress } from "../../inner-address.ts";

/** Refuses connections to local servers that no page may reach. */
export class OwnAddresses {
  readonly #ports: ReadonlySet<number>;

  /** `closed`: those servers as `host:port`. Only the port is compared, because this machine has many names and addresses. */
  constructor(closed: readonly string[]) {
    this.#ports = new Set(closed.map((address) => Number(address.slice(address.lastIndexOf(":") + 1))));
  }

  /** True for a local IP address with a closed port. */
  isClosed(address: string, port: number): boolean {
    return this.#ports.has(port) && isOfThisMachine(address);
  }

  /** Resolves a name, and fails if it resolves to a closed address. So the checked address is the one that is connected to. */
  lookupFor(port: number, onClosed: () => void): LookupFunction {
    return (host, options, callback) => {
      // Browsers resolve all names below localhost to this machine (RFC 6761); resolvers need not.
      const name = /(?:^|\.)localhost\.?$/i.test(host) ? "localhost" : host;
      resolveName(name, { ...options, all: true }, (error, found) => {
        if (error !== null) return callback(error, "");
        if (found.some(({ address }) => this.isClosed(address, port))) {
          onClosed();
          return callback(new ClosedAddress(), "");
        }
        const [first] = found as [LookupAddress, ...LookupAddress[]];
        if (options.all === true) callback(null, found);
        else callback(null, first.address, first.family);
      });
    };
  }
}

/** The error of a request to a closed local server. */
export class ClosedAddress extends Error {
  override readonly name = "ClosedAddress";
}

/** Addresses that always mean this machine: loopback and the unspecified address. */
const everywhere = new BlockList();
everywhere.addSubnet("127.0.0.0", 8, "ipv4");
everywhere.addSubnet("0.0.0.0", 8, "ipv4");
everywhere.addAddress("::1", "ipv6");
everywhere.addAddress("::", "ipv6");

function isOfThisMachine(address: string): boolean {
  const plain = innerAddress(address);
  const family = isIP(plain);
  if (family === 0) return false;
  if (everywhere.check(plain, family === 4 ? "ipv4" : "ipv6")) return true;
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some((other) => other.address === plain);
}
