import cors from "@fastify/cors";
import websocket from "@fastify/websocket";
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { Fault } from "../lib/fault.ts";
import type { Logger } from "../lib/logger.ts";
import { keyOfHeaders, localUser, type Caller, type KeyRing } from "./auth.ts";
import { toErrorReply } from "./errors.ts";
import type { Guard } from "./guard.ts";

export type HttpDeps = {
  readonly keys: KeyRing;
  readonly guard: Guard;
  readonly logger: Logger;
  readonly onActivity: () => void;
};

const bodyLimitBytes = 64 * 1024 * 1024;
const socketPayloadBytes = 16 * 1024 * 1024;

/** The HTTP server without routes: guard first, then CORS, one shape for every error. */
export async function openHttp(deps: HttpDeps): Promise<FastifyInstance> {
  const app = Fastify({
    bodyLimit: bodyLimitBytes,
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
  });
  // Clients of this wire send a list of ids as the body of a GET.
  app.addHttpMethod("GET", { hasBody: true, overrideExisting: true });
  app.addHook("onRequest", async (request) => {
    const refusal = deps.guard.refusal(request.headers.host, request.headers.origin);
    if (refusal !== null) throw new Fault("refused", "forbidden", refusal);
    if (request.url.startsWith("/api/")) deps.onActivity();
  });
  app.setErrorHandler((error, _request, reply) => {
    const answer = toErrorReply(error, deps.logger);
    return reply.status(answer.status).send(answer.body);
  });
  app.setNotFoundHandler((_request, reply) => reply.status(404).send({ detail: "Not Found" }));
  await app.register(cors, {
    delegator: (request, callback) => {
      const origin = request.headers.origin;
      const isAllowed = origin !== undefined && deps.guard.isOriginAllowed(origin, request.headers.host);
      callback(null, { origin: isAllowed, credentials: true, methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] });
    },
  });
  await app.register(websocket, { options: { maxPayload: socketPayloadBytes, perMessageDeflate: false } });
  return app;
}

export function createAuthenticator(keys: KeyRing): (request: FastifyRequest) => Caller | null {
  return (request) => {
    if (keys.isOpen) return localUser;
    const key = keyOfHeaders(request.headers);
    return key === null ? null : keys.identify(key);
  };
}
