import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Observer } from "../observability/observer.ts";
import type { Caller } from "../security/caller.ts";
import { isNear } from "./compress-answers.ts";
import { requestIdHeader, toAuditedCall, type AuditedCall, type CallListener } from "./observe-requests.ts";

/** The bytes of a cached answer for this caller while they are valid; null when they must be produced again. */
export type Again = (caller: Caller) => Uint8Array | null;

declare module "fastify" {
  interface FastifyRequest {
    /** The answer and the function that revalidates it; null when the request must be handled in full. */
    repeatable: { readonly bytes: Uint8Array; readonly again: Again } | null;
  }
}

export type ReadyAnswersDeps = {
  readonly observer: Observer;
  readonly calls: CallListener;
  /** The guard that refuses requests before they are read. */
  readonly isRefused: (request: IncomingMessage) => boolean;
};

/** Null for unauthenticated callers, and for those who need more than a key. */
type Identify = (headers: IncomingHttpHeaders) => Caller | null;

/** The route and the parameters of the answered request. */
type Known = { readonly again: Again; readonly route: Pick<AuditedCall, "method" | "route" | "target"> };

const maxKnown = 1_000;

/** A request with any other header is handled in full: these headers only affect authentication and compression. */
const plainHeaders: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "authorization",
  "connection",
  "host",
  "sec-fetch-mode",
  "user-agent",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "x-session-api-key",
]);

/**
 * Answers a repeated request from a cache, without routing, which costs more than sending a page. The same functions
 * are called each time: the guard, the key, the owner, and the revalidation of the bytes. The call is recorded like any
 * other. Unusual requests and all refusals are handled in full.
 *
 * Only for speed: B6.http.plain, B6.http.filtered
 */
export class ReadyAnswers {
  readonly #deps: ReadyAnswersDeps;
  /** By the URL as sent; the oldest first. */
  readonly #known = new Map<string, Known>();
  /** Headers of the cached answer: names and values in turn. */
  readonly #headers = new WeakMap<Uint8Array, readonly string[]>();
  #identify: Identify | null = null;

  constructor(app: FastifyInstance, deps: ReadyAnswersDeps) {
    this.#deps = deps;
    app.decorateRequest("repeatable", null);
    app.addHook("onResponse", (request, reply, done) => {
      this.#remember(request, reply);
      done();
    });
    app.addHook("preClose", (done) => {
      this.#identify = null;
      done();
    });
    // Installs itself before the router.
    app.server.removeAllListeners("request").on("request", (request, response) => {
      if (!this.#answer(request, response)) app.routing(request, response);
    });
  }

  /** Before that, all requests are handled in full. */
  open(identify: Identify): void {
    this.#identify = identify;
  }

  #remember(request: FastifyRequest, reply: FastifyReply): void {
    const { repeatable, raw } = request;
    if (repeatable === null || this.#identify === null || reply.statusCode !== 200 || !isPlain(raw)) return;
    const { bytes, again } = repeatable;
    const { [requestIdHeader]: _, ...headers } = reply.getHeaders();
    this.#headers.set(
      bytes,
      Object.entries(headers).flatMap(([name, value]) => [name, String(value)]),
    );
    const { method, route, target } = toAuditedCall(request, 200);
    this.#known.set(request.url, { again, route: { method, route, target } });
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxKnown && oldest !== undefined) this.#known.delete(oldest);
  }

  /** False when the request must be handled in full; nothing was done then. */
  #answer(request: IncomingMessage, response: ServerResponse): boolean {
    const known = this.#known.get(request.url ?? "");
    if (known === undefined || !isPlain(request) || this.#deps.isRefused(request)) return false;
    const caller = this.#identify?.(request.headers) ?? null;
    const bytes = caller === null ? null : find(known.again, caller);
    const headers = bytes === null ? undefined : this.#headers.get(bytes);
    if (caller === null || bytes === null || headers === undefined) return false;
    const { observer, calls } = this.#deps;
    calls.active();
    const requestId = randomUUID();
    const { method, route, target } = known.route;
    const activity = observer.begin({ kind: "request", requestId, method, route });
    const peer = request.socket.remoteAddress ?? "";
    response.once("close", () => {
      observer.end(activity, { error: null, status: 200 });
      const { userId: user, keyId = null, loginId = null, means = null } = caller;
      calls.ended({ requestId, user, keyId, loginId, means, peer, method, route, target, status: 200 });
    });
    response.writeHead(200, [requestIdHeader, requestId, ...headers]);
    response.end(bytes);
    return true;
  }
}

function find(again: Again, caller: Caller): Uint8Array | null {
  try {
    return again(caller);
  } catch {
    // The full handling fails again, answers and records it.
    return null;
  }
}

/**
 * True without a body, a cookie, an origin, a condition, or anything else that affects an answer; and never for
 * compressed answers.
 */
function isPlain(request: IncomingMessage): boolean {
  if (request.method !== "GET") return false;
  const { rawHeaders } = request;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (!plainHeaders.has(name) && !plainHeaders.has(name.toLowerCase())) return false;
  }
  return request.headers["accept-encoding"] === undefined || isNear(request.socket.remoteAddress ?? "");
}
