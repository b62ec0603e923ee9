import type { FastifyReply, FastifyRequest } from "fastify";
import { keyOfHeaders, type KeyRing } from "../../../http/auth.ts";
import { localUser, type Caller } from "../../../security/caller.ts";
import { Fault } from "../../../lib/fault.ts";

/**
 * Refuses a handshake with a wrong key; a valid header does not override a wrong query value. Without a key the
 * handshake passes, and the first frame must have one. A socket with a key counts as one request of it.
 */
export function checkHandshake(request: FastifyRequest, reply: FastifyReply, keys: KeyRing): void {
  const caller = callerOfHandshake(request, keys);
  if (caller === null) {
    if (givenKey(request) === null) return;
    throw new Fault("refused", "bad_key", "The session API key is not valid.");
  }
  const taken = request.server.rateLimits.take(caller);
  if (taken === null || taken.refusal === null) return;
  reply.headers(taken.headers);
  throw taken.refusal;
}

/** The caller, if the handshake identifies one. */
export function callerOfHandshake(request: FastifyRequest, keys: KeyRing): Caller | null {
  if (keys.isOpen) return localUser;
  const given = givenKey(request);
  return given === null ? null : identify(request, given, keys);
}

function identify(request: FastifyRequest, key: string, keys: KeyRing): Caller | null {
  return request.server.attemptLimit.find(request, key, (isLimited) => keys.identify(key, isLimited));
}

/**
 * The last hook before the upgrade: no HTTP reply follows. It detaches the request and its reply from the connection,
 * which would otherwise hold them as long as the socket lives (B11).
 */
export async function releaseExchange(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (request.ws) reply.raw.detachSocket(request.raw.socket);
}

function givenKey(request: FastifyRequest): string | null {
  const fromQuery = (request.query as Record<string, unknown>)["session_api_key"];
  return typeof fromQuery === "string" && fromQuery !== "" ? fromQuery : keyOfHeaders(request.headers);
}
