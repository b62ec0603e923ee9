import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { PortPath } from "./port-path.ts";

export type PortHeaderContext = {
  readonly path: PortPath;
  /** Where the client reached this server, e.g. `https://agents.example.org/prefix`. */
  readonly publicAddress: string;
  readonly remoteAddress: string;
};

/** Hop-by-hop headers (RFC 9110, 7.6.1), and headers for this server only. */
const notPassedOn = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers that authenticate at this server. */
const ownHeaders = new Set(["x-session-api-key", "x-convoke-proof", "x-convoke-node"]);

/** A page's request without this server's data: keys, other cookies, and the address with its key. */
export function toInnerHeaders(
  headers: IncomingHttpHeaders,
  { path, publicAddress, remoteAddress }: PortHeaderContext,
): OutgoingHttpHeaders {
  const inner: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (notPassedOn.has(name) || ownHeaders.has(name) || name === "referer") continue;
    if (name.startsWith("x-forwarded-") || name === "forwarded") continue;
    inner[name] = value;
  }
  // A key in a header authenticated the request here; when the key is in the address, such a header is the page's own.
  if (path.portKey === null) delete inner["authorization"];
  const cookies = readOwnCookies(headers.cookie ?? "", path);
  if (cookies === "") delete inner["cookie"];
  else inner["cookie"] = cookies;
  // Servers under development accept loopback and nothing else.
  inner["host"] = `localhost:${path.port}`;
  if (headers.origin !== undefined) inner["origin"] = `http://localhost:${path.port}`;
  const outside = new URL(publicAddress);
  inner["x-forwarded-for"] = remoteAddress;
  inner["x-forwarded-proto"] = outside.protocol.slice(0, -1);
  inner["x-forwarded-host"] = outside.host;
  inner["x-forwarded-prefix"] = `${outside.pathname.replace(/\/$/, "")}${path.prefix}`;
  return inner;
}

/** Headers that a page must not set for the whole server. */
const hiddenHeaders = new Set([
  "access-control-allow-credentials",
  "access-control-allow-origin",
  "alt-svc",
  "clear-site-data",
  "nel",
  "public-key-pins",
  "report-to",
  "reporting-endpoints",
  "service-worker-allowed",
  "strict-transport-security",
  // The header that identifies a request in this server's logs.
  "x-request-id",
]);

/** Headers that control proxies in front, e.g. to serve one of their files. */
const commandsOfProxies = /^x-(?:accel|sendfile|lighttpd|reproxy)(?:-|$)/;

/** Pages from a sandbox have an opaque origin, so they cannot reach this server's pages, cookies or storage. */
const isolation =
  "sandbox allow-downloads allow-forms allow-modals allow-pointer-lock allow-popups allow-scripts";

/** Makes an answer from inside safe for this server's address. `origin` is the request's. */
export function toOuterHeaders(
  headers: IncomingHttpHeaders,
  { path, publicAddress }: PortHeaderContext,
  origin: string | undefined,
): OutgoingHttpHeaders {
  const outer: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    if (notPassedOn.has(name) || hiddenHeaders.has(name) || commandsOfProxies.test(name)) continue;
    if (name !== "set-cookie") outer[name] = value;
  }
  const base = `${new URL(publicAddress).pathname.replace(/\/$/, "")}${path.prefix}`;
  if (headers.location !== undefined) outer["location"] = toOuterLocation(headers.location, path, base);
  if (headers["set-cookie"] !== undefined) {
    outer["set-cookie"] = headers["set-cookie"].flatMap((cookie) => toOuterCookie(cookie, path, base));
  }
  // All of several policies apply.
  outer["content-security-policy"] = [headers["content-security-policy"] ?? [], isolation].flat().join(", ");
  outer["referrer-policy"] = "no-referrer";
  if (path.portKey !== null && origin !== undefined) {
    outer["access-control-allow-origin"] = origin;
    outer["vary"] = [headers.vary, "Origin"].filter(Boolean).join(", ");
  }
  return outer;
}

/**
 * Cookies from inside get their sandbox and port in their name, so that they cannot collide with other cookies of this
 * host.
 */
function cookiePrefix({ sandboxId, port }: PortPath): string {
  return `sandbox.${sandboxId}.${port}.`;
}

function readOwnCookies(header: string, path: PortPath): string {
  const prefix = cookiePrefix(path);
  return header
    .split(";")
    .flatMap((cookie) => {
      const plain = cookie.trim();
      return plain.startsWith(prefix) ? [plain.slice(prefix.length)] : [];
    })
    .join("; ");
}

function toOuterCookie(cookie: string, path: PortPath, base: string): string[] {
  const [pair = "", ...attributes] = cookie.split(";").map((part) => part.trim());
  if (!pair.includes("=")) return [];
  const attributesLeft = attributes.filter((attribute) => !/^(domain|path)\s*(=|$)/i.test(attribute));
  return [[`${cookiePrefix(path)}${pair}`, ...attributesLeft, `Path=${base}/`].join("; ")];
}

/** Redirects to the same port are rewritten to the gateway; others are left unchanged. */
function toOuterLocation(location: string, { port }: PortPath, base: string): string {
  if (location.startsWith("/") && !location.startsWith("//")) return `${base}${location}`;
  if (!URL.canParse(location)) return location;
  const { protocol, hostname, port: given, pathname, search, hash } = new URL(location);
  const isInside = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)$/.test(hostname);
  if (!isInside || Number(given || (protocol === "https:" ? 443 : 80)) !== port) return location;
  return `${base}${pathname}${search}${hash}`;
}
