import type { FastifyRequest } from "fastify";
import { toAddressList } from "../lib/address-list.ts";

/** The address under which a client reached this server: `https://agents.example.org/prefix`, without a slash at its end. */
export type PublicAddress = (request: Pick<FastifyRequest, "headers" | "socket">) => string;

/**
 * The address of this server as the client knows it, for links in answers. `X-Forwarded-Proto`, `-Host` and `-Prefix`
 * are trusted from the proxies, which are addresses or networks such as `10.0.0.0/8`. A configured address wins over
 * all of them.
 */
export function createPublicAddress(
  trustedProxies: readonly string[],
  webUrl: string | null = null,
): PublicAddress {
  const isProxy = toAddressList(trustedProxies, "CONVOKE_TRUSTED_PROXIES");
  if (webUrl !== null) return () => webUrl;
  return ({ headers, socket }) => {
    const isTrusted = isProxy(socket.remoteAddress ?? "");
    const forwarded = (name: string): string | null =>
      isTrusted ? lastValue(headers[`x-forwarded-${name}`]) : null;
    const proto = forwarded("proto")?.toLowerCase() === "https" ? "https" : "http";
    const host = plainHost(forwarded("host")) ?? headers.host ?? "";
    return `${proto}://${host}${plainPrefix(forwarded("prefix"))}`;
  };
}

/** The address of a client: that of its connection, or the one that the nearest trusted proxy reports. */
export function createClientAddress(
  trustedProxies: readonly string[],
): (request: Pick<FastifyRequest, "headers" | "socket">) => string {
  const isProxy = toAddressList(trustedProxies, "CONVOKE_TRUSTED_PROXIES");
  return ({ headers, socket }) => {
    const peer = socket.remoteAddress ?? "";
    return (isProxy(peer) ? lastValue(headers["x-forwarded-for"]) : null) ?? peer;
  };
}

/** The nearest proxy adds the last entry, and is the only known one. */
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
