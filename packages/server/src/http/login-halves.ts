import type { FastifyRequest } from "fastify";
import { Fault } from "../lib/fault.ts";
import type { KeyRing } from "./auth.ts";
import type { Caller } from "../security/caller.ts";
import { isOwnOrigin } from "./own-origin.ts";
import { readCookies } from "./read-cookie.ts";

/** The header with the half of a login that scripts of the page can read. */
const proofHeader = "x-convoke-proof";

/** Cookies ignore ports, so the name has the port: two servers on one machine have separate logins. */
export function loginCookieName({ headers }: FastifyRequest): string {
  return `convoke_${/:(\d+)$/.exec(headers.host ?? "")?.[1] ?? "80"}`;
}

/** The halves of logins that the browser sent. */
export function loginCookies(request: FastifyRequest): string[] {
  return readCookies(request.headers.cookie, loginCookieName(request));
}

/** The scope of a login's cookie: the address that the browser uses, with `Secure` when the page came over TLS. */
export function loginCookiePlace({ headers, publicAddress }: FastifyRequest): string {
  const { origin: known, pathname } = new URL(publicAddress);
  const origin = headers.origin?.toLowerCase() ?? known;
  const path = origin === known ? `${pathname.replace(/\/$/, "")}/` : "/";
  return `Path=${path}; HttpOnly; SameSite=Strict${origin.startsWith("https:") ? "; Secure" : ""}`;
}

/** The caller with both halves of a login; null otherwise. A page of another origin is refused in any case. */
export function callerOfLogin(request: FastifyRequest, keys: KeyRing): Caller | null {
  const proof = request.headers[proofHeader];
  const caller = typeof proof === "string" ? find(request, proof, keys) : null;
  if (caller === null) return null;
  const isReading = request.method === "GET" || request.method === "HEAD";
  if (request.headers.origin === undefined && !isReading) throw foreignPage();
  refuseForeignPage(request);
  return caller;
}

/**
 * As {@link callerOfLogin}, for a socket, whose proof comes in its first frame; browsers always send the origin of its
 * page.
 */
export function callerOfSocketLogin(request: FastifyRequest, proof: string, keys: KeyRing): Caller | null {
  if (request.headers.origin === undefined || isForeignPage(request)) return null;
  return find(request, proof, keys);
}

/** Throws for a request that a browser marks as one of a foreign page. */
export function refuseForeignPage(request: FastifyRequest): void {
  if (isForeignPage(request)) throw foreignPage();
}

function isForeignPage(request: FastifyRequest): boolean {
  const { origin, "sec-fetch-site": site } = request.headers;
  if (origin !== undefined && !isOwnOrigin(origin, request)) return true;
  return site !== undefined && site !== "same-origin";
}

function find(request: FastifyRequest, proof: string, keys: KeyRing): Caller | null {
  if (proof === "") return null;
  for (const cookie of loginCookies(request)) {
    const caller = keys.identifyLogin({ cookie, proof });
    if (caller !== null) return caller;
  }
  return null;
}

function foreignPage(): Fault {
  const sentence = "Logins work from this server's own page only. Other pages and programs send a key.";
  return new Fault("refused", "foreign_page", sentence);
}
