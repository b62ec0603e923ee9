import type { FastifyRequest } from "fastify";
import { localUser, type Caller, type KeyRing } from "../../../http/auth.ts";
import { workspaceCookie, type WorkspaceSessions } from "../../../workspaces/workspace-session.ts";

/** Tells whose cookie a request brings; null for none, for one that is over, and after its key was revoked. */
export function createCookieReader(
  sessions: WorkspaceSessions,
  keys: KeyRing,
): (request: FastifyRequest) => Caller | null {
  return ({ headers }) => {
    if (keys.isOpen) return localUser;
    const caller = sessions.read(readCookie(headers.cookie, workspaceCookie));
    return caller !== null && keys.isStillGood(caller) ? caller : null;
  };
}

/** Empty when there is none. */
export function readCookie(header: string | undefined, name: string): string {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
}
