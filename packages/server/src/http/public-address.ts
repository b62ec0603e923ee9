import { BlockList, isIP } from "node:net";
import type { FastifyRequest } from "fastify";
import { ConfigError } from "../lib/config-error.ts";

/** The address under which a client reached this server: `https://agents.example.org/prefix`, without a slash at its end. */
export type PublicAddress = (request: Pick<FastifyRequest, "headers" | "socket">) => string;

/**
 * Answers name this server as the client knows it. `X-Forwarded-Proto`, `-Host` and `-Prefix` are believed when they come
 * from one of the proxies, which are addresses or networks as `10.0.0.0/8`. A configured address wins over all of them.
 */
export function createPublicAddress(
  trustedProxies: readonly string[],
  webUrl: string | null = null,
): PublicAddress {
  const trusted = toBlockList(trustedProxies);
  if (webUrl !== null) return () => webUrl;
  return ({ headers, socket }) => {
    const isTrusted = trusted.check(...familyOf(socket.remoteAddress ?? ""));
    const forwarded = (name: string): string | null =>
      isTrusted ? lastValue(headers[`x-forwarded-${name}`]) : null;
    const proto = forwarded("proto")?.toLowerCase() === "https" ? "https" : "http";
    const host = plainHost(forwarded("host")) ?? headers.host ?? "";
    return `${proto}://${host}${plainPrefix(forwarded("prefix"))}`;
  };
}

function toBlockList(proxies: readonly string[]): BlockList {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = "", bits, ...rest] = proxy.split("/");
    const family = isIP(address);
    const widest = family === 4 ? 32 : 128;
    const length = bits === undefined ? widest : Number(bits);
    if (family === 0 || rest.length > 0 || !Number.isInteger(length) || length < 0 || length > widest) {
      throw new ConfigError(
        `CONVOKE_TRUSTED_PROXIES must list addresses or networks as 10.0.0.0/8, not "${proxy}".`,
      );
    }
    list.addSubnet(address, length, family === 4 ? "ipv4" : "ipv6");
  }
  return list;
}

function familyOf(address: string): [string, "ipv4" | "ipv6"] {
  const [, inner] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  const plain = inner ?? address;
  return isIP(plain) === 6 ? [plain, "ipv6"] : [isIP(plain) === 4 ? plain : "0.0.0.0", "ipv4"];
}

/** The nearest proxy is the last to add to a list, and the only one that is known. */
function lastValue(header: string | string[] | undefined): string | null {
  return header?.toString().split(",").at(-1)?.trim() || null;
}

function plainHost(host: string | null): string | null {
  return host !== null && /^(\[[0-9a-f:.]+\]|[\w.-]+)(:\d{1,5})?$/i.test(host) ? host : null;
}

/** `/prefix`; what is no path is ignored. */
function plainPrefix(prefix: string | null): string {
  const plain = prefix?.replace(/\/+$/, "") ?? "";
  return /^(\/[\w.~-]+)+$/.test(plain) ? plain : "";
}
