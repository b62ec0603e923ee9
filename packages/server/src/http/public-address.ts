import type { FastifyRequest } from "fastify";
import { toAddressList } from "../lib/address-list.ts";

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

/** Where a client is: the address of its connection, or what the nearest proxy that is believed says it is. */
export function createClientAddress(
  trustedProxies: readonly string[],
): (request: Pick<FastifyRequest, "headers" | "socket">) => string {
  const isProxy = toAddressList(trustedProxies, "CONVOKE_TRUSTED_PROXIES");
  return ({ headers, socket }) => {
    const peer = socket.remoteAddress ?? "";
    return (isProxy(peer) ? lastValue(headers["x-forwarded-for"]) : null) ?? peer;
  };
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
