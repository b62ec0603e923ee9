import { isIP } from "node:net";

/** Where a connection is to lead: a name in lower case without a dot at its end, or an address without brackets. */
export type Target = { readonly host: string; readonly port: number };

const maxNameChars = 253;

/**
 * A host in its one form, or null. The URL parser resolves odd spellings of addresses, such as `0x7f.1` and `2130706433`, and writes
 * international names in ASCII. An IPv4 address mapped to IPv6, such as `::ffff:1.1.1.1`, is that IPv4 address: it leads to the same place.
 */
export function toHost(text: string): string | null {
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  if (isIP(bare) === 6) return ipv6(bare);
  // Everything else that has a meaning for a URL would be cut off by its parser.
  if (bare === "" || /[\s/?#@:\\[\]%\p{Cc}]/u.test(bare)) return null;
  const address = `http://${bare}/`;
  if (!URL.canParse(address)) return null;
  const host = new URL(address).hostname.replace(/\.$/, "");
  return host === "" || host.length > maxNameChars || host.split(".").includes("") ? null : host;
}

/** `host:port`, `[address]:port`; null for anything else. */
export function toTarget(text: string): Target | null {
  const [, host, digits] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(text) ?? [];
  const name = toHost(host ?? "");
  const port = Number(digits);
  return name === null || !isPort(port) ? null : { host: name, port };
}

export function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535;
}

/** As a URL, a `Host` header and people write it. */
export function formatHost(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Port 0 stands for no port, as in the names of totals. */
export function formatTarget({ host, port }: Target): string {
  if (port === 0) return host;
  return `${formatHost(host)}:${port}`;
}

function ipv6(address: string): string | null {
  // A zone names an interface of this machine.
  if (address.includes("%")) return null;
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [, high = "", low = ""] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(plain) ?? [];
  if (high === "") return plain;
  return [high, low]
    .map((word) => Number.parseInt(word, 16))
    .flatMap((word) => [word >> 8, word & 255])
    .join(".");
}
