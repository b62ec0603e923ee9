import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";

export type GuardOptions = {
  /** The address that the server listens on. */
  readonly boundHost: string;
  /** Further host names that clients may use, e.g. behind a proxy; `*.example.org` covers subdomains. */
  readonly allowedHosts: readonly string[];
  /** Further origins of web pages that can call the server, e.g. `https://app.example.org`. */
  readonly allowedOrigins: readonly string[];
  /** Origins besides, as a whole. */
  readonly originPattern?: { test(origin: string): boolean } | null;
  /** The name by which containers reach this machine; its pages count as those of loopback. */
  readonly machineName?: string | null;
  /**
   * Without keys a request of a browser is not trusted by itself: pages of other ports of this machine count as
   * foreign.
   */
  readonly isKeyless?: boolean;
};

/** Refuses requests that a foreign web page caused, before they are read (P3). */
export interface Guard {
  /** Why the request is refused, or null. */
  refusal(host: string | undefined, origin: string | undefined): string | null;
  /** As {@link refusal}, for a request without an Origin: a page that shows or loads something of this server without reading it. */
  embeddingRefusal(url: string, headers: IncomingHttpHeaders): string | null;
  isOriginAllowed(origin: string, host: string | undefined): boolean;
  /** True when a request itself authenticates its sender, so that the page does not matter. */
  provesItself(method: string, url: string, headers: IncomingHttpHeaders): boolean;
}

/**
 * Why the target host of a request is ambiguous (RFC 9112, 3.2), or null. `rawHeaders` are names and values by turns.
 */
export function unclearTarget(
  url: string,
  rawHeaders: readonly string[],
  host: string | undefined,
): string | null {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  if (hosts > 1) return "The request has more than one Host. Send one.";
  if (url.startsWith("/") || url === "*") return null;
  const target = URL.canParse(url) ? new URL(url).host : null;
  const plainHost = host?.toLowerCase().replace(/:80$/, "");
  return target === plainHost ? null : "The address of the request names another server than its Host.";
}

/** Host must name this server (which ends DNS rebinding), Origin must be the same one, loopback, or configured. */
export function createGuard(options: GuardOptions): Guard {
  const allowedOrigins = new Set(
    options.allowedOrigins.map((origin) => origin.replace(/\/$/, "").toLowerCase()),
  );

  function isHostAllowed(host: string): boolean {
    const name = hostName(host);
    if (name === null) return false;
    if (isOfMachine(name) || name === options.boundHost.toLowerCase()) return true;
    // An address cannot be rebound by DNS; it can only arrive where the server listens beyond loopback.
    if (isIP(name) !== 0 && !isLoopback(options.boundHost)) return true;
    return options.allowedHosts.some((allowed) => matches(allowed.toLowerCase(), name));
  }

  function isOriginAllowed(origin: string, host: string | undefined): boolean {
    const plain = origin.toLowerCase();
    if (allowedOrigins.has("*") || allowedOrigins.has(plain)) return true;
    if (options.originPattern?.test(origin) === true) return true;
    if (!URL.canParse(plain)) return false;
    const parsed = new URL(plain);
    // Pages of other schemes are programs with a web view; they must be configured.
    if (parsed.protocol !== "http:" && parsed.protocol !== "https:") return false;
    if (parsed.host === host?.toLowerCase()) return true;
    return options.isKeyless !== true && isOfMachine(hostName(parsed.host) ?? "");
  }

  function isOfMachine(name: string): boolean {
    return isLoopback(name) || name === options.machineName?.toLowerCase();
  }

  return {
    isOriginAllowed,
    provesItself(method, url, headers) {
      // A page can only set the header after a preflight, and only a trusted page knows the key.
      if (options.isKeyless === true || !sessionOfWorkspaces.test(url)) return false;
      return method === "OPTIONS" || headers["x-session-api-key"] !== undefined;
    },
    refusal(host, origin) {
      if (host === undefined || !isHostAllowed(host)) {
        return "This Host is not served here. Use the server's own address, or add the name to the allowed hosts.";
      }
      if (origin !== undefined && !isOriginAllowed(origin, host)) return foreignOrigin;
      return null;
    },
    embeddingRefusal(url, headers) {
      if (options.isKeyless !== true || pageFiles.test(url)) return null;
      const { host, referer = "", "sec-fetch-site": site, "sec-fetch-mode": mode } = headers;
      if (site === undefined || site === "same-origin" || site === "none") return null;
      // Following a link opens the target as a page of its own.
      if (mode === "navigate" && headers["sec-fetch-dest"] === "document") return null;
      const isKnown = URL.canParse(referer) && isOriginAllowed(new URL(referer).origin, host);
      return isKnown ? null : foreignOrigin;
    },
  };
}

const sessionOfWorkspaces = /^\/api\/auth\/workspace-session\/?(?:\?|$)/;

const foreignOrigin = "Pages of this Origin may not call this server. Add the origin to the allowed origins.";

/**
 * Files of a conversation's workspace, whose pages load other files with an opaque origin; the requester must know the
 * id.
 */
const pageFiles = /^(\/sandboxes\/[^/]+)?\/api\/conversations\/[^/]+\/workspace\//;

export function isLoopback(name: string): boolean {
  return (
    name === "localhost" || name.endsWith(".localhost") || name === "::1" || /^127\.\d+\.\d+\.\d+$/.test(name)
  );
}

/** The name or address of a Host header without its port; null when it is none. */
function hostName(host: string): string | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::\d{1,5})?$/i.exec(host);
  return (match?.[1] ?? match?.[2])?.toLowerCase() ?? null;
}

function matches(allowed: string, name: string): boolean {
  return allowed === "*" || allowed === name || (allowed.startsWith("*.") && name.endsWith(allowed.slice(1)));
}
