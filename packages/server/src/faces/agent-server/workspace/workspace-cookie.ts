import type { FastifyRequest } from "fastify";
import { type KeyRing } from "../../../http/auth.ts";
import { localUser, type Caller } from "../../../security/caller.ts";
import { isOwnOrigin } from "../../../http/own-origin.ts";
import { readCookies } from "../../../http/read-cookie.ts";
import { normalizeUuid } from "../../../lib/uuid7.ts";
import { readPageAddress } from "../../../workspaces/page-address.ts";
import { workspaceCookie, type WorkspaceSessions } from "../../../workspaces/workspace-session.ts";

/**
 * Tells whose cookie a request brings, or whose address of a page it has; null for none, for one that is over, and after its key was
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
  return holder === null ? null : { ...holder, means: "page" };
}

/** A cookie comes along whoever asks; another page that asks for itself says so by its origin, and has to bring the key. */
function ofCookie(request: FastifyRequest, sessions: WorkspaceSessions): Caller | null {
  const { headers } = request;
  const { origin } = headers;
  if (origin !== undefined && !isOwnOrigin(origin, request)) return null;
  for (const cookie of readCookies(headers.cookie, workspaceCookie)) {
    const holder = sessions.read(cookie);
    if (holder !== null) return { ...holder, means: "cookie" };
  }
  return null;
}
