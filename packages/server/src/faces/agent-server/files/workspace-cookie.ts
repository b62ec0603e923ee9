import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { type KeyRing } from "../../../http/auth.ts";
import { localUser, type Caller } from "../../../security/caller.ts";
import { isOwnOrigin } from "../../../http/own-origin.ts";
import { readCookies } from "../../../http/read-cookie.ts";
import { normalizeUuid } from "../../../lib/uuid7.ts";
import { readPageAddress } from "../../../workspaces/page-address.ts";
import { workspaceCookie, type WorkspaceSessions } from "../../../workspaces/workspace-session.ts";

/**
 * The user of a request's cookie, or of the page's address; null without one, for an expired one, and after its key was
 * revoked.
 */
export function createCookieReader(
  sessions: WorkspaceSessions,
  keys: KeyRing,
): (request: FastifyRequest) => Caller | null {
  return (request) => {
    if (keys.isOpen) return localUser;
    const caller = ofPage(request, sessions) ?? ofCookie(request, sessions);
    return caller !== null && keys.isStillGood(caller) ? caller : null;
  };
}

function ofPage({ url }: FastifyRequest, sessions: WorkspaceSessions): Caller | null {
  const page = readPageAddress(url);
  const id = page === null ? null : normalizeUuid(page.conversationId);
  if (page === null || id === null) return null;
  const holder = sessions.readPage(page.capability, id);
  return holder === null ? null : { ...holder, role: "viewer", means: "page" };
}

/**
 * Browsers send the cookie with requests of any page, so the origin is checked: it must be this server's, or the one
 * that the cookie was given to. Other pages need the key.
 */
function ofCookie(request: FastifyRequest, sessions: WorkspaceSessions): Caller | null {
  const { headers } = request;
  const { origin } = headers;
  const isOwn = origin === undefined || isOwnOrigin(origin, request);
  for (const cookie of readCookies(headers.cookie, workspaceCookie)) {
    const session = sessions.read(cookie);
    if (session !== null && (isOwn || session.origin === origin))
      return { ...session.holder, role: "viewer", means: "cookie" };
  }
  return null;
}

const files = /^\/api\/conversations\/[^/?]+\/workspace(?:[/?]|$)/;

/**
 * True when a page of another origin reads files with a cookie that was given to it. The preflight has no cookies: its
 * answer only says what the page may send.
 */
export function createPageProof(
  sessions: WorkspaceSessions,
  keys: Pick<KeyRing, "isOpen">,
): (request: IncomingMessage) => boolean {
  return ({ method = "", url = "", headers }) => {
    const { origin } = headers;
    if (keys.isOpen || origin === undefined || !files.test(url)) return false;
    if (method === "OPTIONS") return isRead(headers["access-control-request-method"]);
    if (!isRead(method)) return false;
    return readCookies(headers.cookie, workspaceCookie).some(
      (cookie) => sessions.read(cookie)?.origin === origin,
    );
  };
}

function isRead(method: unknown): boolean {
  return method === "GET" || method === "HEAD";
}
