import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import cors from "@fastify/cors";
import websocket, { type WebsocketPluginOptions } from "@fastify/websocket";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { systemTable } from "@convoke/tool-host/system";
import { Fault } from "../lib/fault.ts";
import type { Logger } from "../lib/logger.ts";
import { AttemptLimit } from "./attempt-limit.ts";
import { keyOfHeaders, type KeyRing } from "./auth.ts";
import { localUser, type Caller } from "../security/caller.ts";
import { Observer } from "../observability/observer.ts";
import { closeSockets } from "./close-sockets.ts";
import { compressAnswers } from "./compress-answers.ts";
import { bodyLimitBytes, toErrorReply, type ErrorReply } from "./errors.ts";
import { unclearTarget, type Guard } from "./guard.ts";
import { callerOfLogin } from "./login-halves.ts";
import { lingerAfterEarlyAnswers } from "./linger.ts";
import { limitConnections, maxConnections } from "./max-connections.ts";
import { observeRequests, requestIdHeader, toAuditedCall, type CallListener } from "./observe-requests.ts";
import { PageProofs } from "./page-proofs.ts";
import { createClientAddress, createPublicAddress } from "./public-address.ts";
import { readBodies } from "./read-bodies.ts";
import { ServerSocket, socketPayloadBytes } from "./server-socket.ts";
import { withOpenAiError } from "./openai-errors.ts";
import { rateLimitHeaders, RateLimits } from "./rate-limits.ts";
import { ReadyAnswers } from "./ready-answers.ts";
import { refuseUnreadable } from "./refuse-unreadable.ts";
import { refuseUnknownRoutes } from "./unknown-routes.ts";
import { mountDocsPages } from "./web/docs-pages.ts";
import { mountWebPages } from "./web/web-pages.ts";

export type HttpDeps = {
  readonly guard: Guard;
  readonly logger: Logger;
  readonly calls: CallListener;
  /** Proxies whose `X-Forwarded-*` headers are trusted; none by default. */
  readonly trustedProxies?: readonly string[];
  /** The address of this server for clients; by default it is taken from their requests. */
  readonly webUrl?: string | null;
  /** True for addresses that are keys themselves, so that pages of every origin may use them. */
  readonly isForEveryOrigin?: (url: string) => boolean;
  /** The folder of the built page; null, like leaving it out, serves none. */
  readonly webDir?: string | null;
  /** The folder of the built documentation; null, like leaving it out, serves none. */
  readonly docsDir?: string | null;
  /** Optional: without it nothing is recorded. */
  readonly observer?: Observer;
  /** How long the side that closes a socket waits for a client that does not answer. */
  readonly closingMs?: number;
};

declare module "fastify" {
  interface FastifyRequest {
    /** Where the client reached this server, without a slash at its end; see {@link createPublicAddress}. */
    readonly publicAddress: string;
  }
  interface FastifyInstance {
    readonly readyAnswers: ReadyAnswers;
    readonly pageProofs: PageProofs;
    /** Of keys and logins. */
    readonly attemptLimit: AttemptLimit;
    /** Of signatures of webhooks, apart: a sender with a wrong secret must not lock out people behind its address. */
    readonly signatureLimit: AttemptLimit;
    readonly rateLimits: RateLimits;
  }
}

/** A request that takes longer than this to arrive is aborted. */
const requestTimeoutMs = 300_000;

/** The HTTP server without routes: guard first, then CORS, then unknown routes; one shape for every error. */
export async function openHttp(deps: HttpDeps): Promise<FastifyInstance> {
  const { calls, isForEveryOrigin = () => false, observer = new Observer() } = deps;
  const answer = (error: unknown, reply: FastifyReply): FastifyReply => {
    const { activity } = reply.request;
    const { bodyLimit } = reply.request.routeOptions;
    const toReply = (): ErrorReply => toErrorReply(error, deps.logger, bodyLimit);
    const { status, body, headers = {} } = activity ? observer.within(activity, toReply) : toReply();
    // A stream may fail before its first byte: its headers do not apply to the error.
    for (const name of streamHeaders) reply.removeHeader(name);
    return reply
      .status(status)
      .headers(headers)
      .type("application/json; charset=utf-8")
      .send(withOpenAiError(reply.request.url, status, body));
  };
  const pageProofs = new PageProofs();
  const provesItself = (request: IncomingMessage): boolean => {
    const { method = "", url = "", headers } = request;
    return deps.guard.provesItself(method, url, headers) || pageProofs.isProven(request);
  };
  const refusalOf = (request: IncomingMessage): Fault | null => {
    const { url = "", rawHeaders, headers } = request;
    const { host, origin } = headers;
    const unclear = unclearTarget(url, rawHeaders, host);
    if (unclear !== null) return new Fault("unusable", "bad_request", unclear);
    const refusal =
      isForEveryOrigin(url) || provesItself(request)
        ? deps.guard.refusal(host, undefined)
        : (deps.guard.refusal(host, origin) ??
          (origin === undefined ? deps.guard.embeddingRefusal(url, headers) : null));
    return refusal === null ? null : new Fault("refused", "forbidden", refusal);
  };
  const checkGuard = (request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = refusalOf(request.raw);
    if (refusal === null) return;
    // Further data of an unauthenticated client is not read.
    reply.header("connection", "close");
    throw refusal;
  };
  const app = Fastify({
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    clientErrorHandler: refuseUnreadable,
    genReqId: () => randomUUID(),
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    schemaController: { compilersFactory: noCompilers },
    // Addresses that cannot be decoded never reach a hook, not even the one that ends a refused upgrade.
    frameworkErrors: (error, request, reply) => {
      // Set, so that the client does not send its next request on a connection that closes.
      reply.headers({ connection: "close", [requestIdHeader]: request.id, ...plainHeaders });
      reply.raw.once("finish", () => request.raw.socket.destroySoon());
      try {
        checkGuard(request, reply);
        void answer(error, reply);
      } catch (refusal) {
        const isUnclear = refusal instanceof Fault && refusal.kind === "unusable";
        if (!isUnclear) calls.ended(toAuditedCall(request, 403));
        void answer(refusal, reply);
      }
    },
  });
  limitConnections(app.server, maxConnections(systemTable.openFileLimit()), deps.logger);
  const publicAddress = createPublicAddress(deps.trustedProxies ?? [], deps.webUrl ?? null);
  app.decorateRequest("publicAddress", {
    getter() {
      return publicAddress(this);
    },
  });
  observeRequests(app, { observer, calls });
  app.decorate("pageProofs", pageProofs);
  const addressOf = createClientAddress(deps.trustedProxies ?? []);
  app.decorate("attemptLimit", new AttemptLimit(addressOf));
  app.decorate("signatureLimit", new AttemptLimit(addressOf));
  app.decorate("rateLimits", new RateLimits());
  const isRefused = (request: IncomingMessage): boolean => refusalOf(request) !== null;
  app.decorate("readyAnswers", new ReadyAnswers(app, { observer, calls, isRefused }));
  // Before the hooks that refuse: it ends the connections of refused upgrades.
  await app.register(websocket, {
    options: { ...socketOptions, ...closeTimeout(deps.closingMs) },
    preClose(done) {
      closeSockets(this.websocketServer.clients);
      done();
    },
  });
  readBodies(app);
  lingerAfterEarlyAnswers(app);
  compressAnswers(app);
  app.addHook("onSend", (_request, reply, payload, done) => {
    reply.headers(plainHeaders);
    done(null, payload);
  });
  app.addHook("onRequest", (request, reply, done) => {
    checkGuard(request, reply);
    if (request.url.startsWith("/api/")) calls.active();
    done();
  });
  app.setErrorHandler((error, _request, reply) => answer(error, reply));
  await app.register(cors, {
    delegator: (request, callback) => {
      const origin = request.headers.origin;
      const isAllowed =
        origin !== undefined &&
        (deps.guard.isOriginAllowed(origin, request.headers.host) || provesItself(request.raw));
      callback(null, {
        origin: isAllowed,
        credentials: true,
        // Otherwise requests that only have an origin are answered in plain text.
        strictPreflight: false,
        exposedHeaders: [requestIdHeader, "warning", "x-convoke-quota", "retry-after", ...rateLimitHeaders],
        methods: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"],
      });
    },
  });
  mountDocsPages(app, deps.docsDir ?? null);
  if (deps.webDir) mountWebPages(app, deps.webDir);
  refuseUnknownRoutes(app);
  return app;
}

const socketOptions = {
  maxPayload: socketPayloadBytes,
  perMessageDeflate: false,
  // The type also requires the static members of the library's class; a server only makes instances.
  WebSocket: ServerSocket as NonNullable<WebsocketPluginOptions["options"]>["WebSocket"],
};

/** The library's own timeout, which must not end before ours; it is missing in its types. */
function closeTimeout(closingMs = 0): object {
  return { closeTimeout: Math.max(30_000, 2 * closingMs) };
}

const streamHeaders = [
  "content-disposition",
  "content-encoding",
  "content-length",
  "content-range",
  "accept-ranges",
  "etag",
  "last-modified",
];

/** Browsers must not guess another type of an answer. */
const plainHeaders = { "x-content-type-options": "nosniff" };

/** Routes check and write JSON themselves; Fastify would load its schema compilers for nothing. */
const noCompilers = {
  buildValidator: () => () => {
    throw new Error("No route has a schema of Fastify's.");
  },
  buildSerializer: () => () => {
    throw new Error("No route has a schema of Fastify's.");
  },
};

export function createAuthenticator(keys: KeyRing): (request: FastifyRequest) => Caller | null {
  return (request) => {
    if (keys.isOpen) return localUser;
    const { attemptLimit } = request.server;
    const key = keyOfHeaders(request.headers);
    if (key !== null) return attemptLimit.find(request, key, (isLimited) => keys.identify(key, isLimited));
    // The halves of a login are too long to be guessed, and browsers go on with those that have ended.
    return callerOfLogin(request, keys);
  };
}
