import type { FastifyRequest } from "fastify";
import { localUser, type Caller, type KeyRing } from "../../../http/auth.ts";
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
function ofCookie({ headers, publicAddress }: FastifyRequest, sessions: WorkspaceSessions): Caller | null {
  const { origin } = headers;
  const own = [`http://${headers.host}`, `https://${headers.host}`, new URL(publicAddress).origin];
  if (origin !== undefined && !own.includes(origin.toLowerCase())) return null;
  const holder = sessions.read(readCookie(headers.cookie, workspaceCookie));
  return holder === null ? null : { ...holder, means: "cookie" };
}

/** Empty when there is none. */
export function readCookie(header: string | undefined, name: string): string {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
}
