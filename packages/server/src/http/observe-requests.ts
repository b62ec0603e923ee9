import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Begun, Observer } from "../observability/observer.ts";
import type { Caller } from "./auth.ts";

/** A call that was let in or refused, without anything that it carried. */
export type AuditedCall = {
  readonly requestId: string;
  /** Null for a stranger. */
  readonly user: string | null;
  /** Of an issued key; null with keys that were configured. */
  readonly keyId: string | null;
  /** Where the connection comes from. */
  readonly peer: string;
  readonly method: string;
  /** A template, e.g. `/api/conversations/:conversation_id`. */
  readonly route: string;
  /** Which object, by parameter of the route. */
  readonly target: Readonly<Record<string, string>>;
  /** 101 for a socket that was let in, 401 for one that was not. */
  readonly status: number;
};

declare module "fastify" {
  interface FastifyRequest {
    /** The request as an activity; null where it was never begun. */
    activity: Begun | null;
    caller: Caller | null;
    /** Says who calls as soon as that is known; null is a stranger. */
    noteCaller(caller: Caller | null): void;
  }
}

export type ObserveDeps = { readonly observer: Observer; readonly onCall: (call: AuditedCall) => void };

/** Other parameters may be keys, e.g. that of a sandbox's port. */
const targetParameters = ["conversation_id", "conversationId", "sandbox_id", "event_id", "name"];

/** Each request is an activity, and whatever its handler begins is a part of it; calls are told when they are answered. */
export function observeRequests(app: FastifyInstance, { observer, onCall }: ObserveDeps): void {
  app.decorateRequest("activity", null);
  app.decorateRequest("caller", null);
  app.decorateRequest("noteCaller", function noteCaller(this: FastifyRequest, caller: Caller | null): void {
    this.caller = caller;
    if (this.ws) onCall(callOf(this, caller === null ? 401 : 101));
  });
  app.addHook("onRequest", (request, _reply, done) => {
    request.activity = observer.begin({
      kind: "request",
      requestId: request.id,
      method: request.method,
      route: routeOf(request),
    });
    done();
  });
  // Later than the body, whose arrival loses what it belongs to.
  app.addHook("preHandler", (request, _reply, done) => {
    if (request.activity === null) done();
    else observer.within(request.activity, done);
  });
  app.addHook("onResponse", (request, { statusCode: status }, done) => {
    if (request.activity !== null) {
      observer.end(request.activity, { error: status >= 500 ? String(status) : null, status });
    }
    if (request.caller !== null || status === 401 || status === 403) onCall(callOf(request, status));
    done();
  });
}

function callOf(request: FastifyRequest, status: number): AuditedCall {
  const params = (request.params ?? {}) as Readonly<Record<string, string | undefined>>;
  const target = targetParameters.flatMap((name): [string, string][] => {
    const value = params[name];
    return value === undefined ? [] : [[name, value.slice(0, 200)]];
  });
  return {
    requestId: request.id,
    user: request.caller?.userId ?? null,
    keyId: request.caller?.keyId ?? null,
    peer: request.socket.remoteAddress ?? "",
    method: request.method,
    route: routeOf(request),
    target: Object.fromEntries(target),
    status,
  };
}

function routeOf(request: FastifyRequest): string {
  return request.is404 ? "unknown" : (request.routeOptions.url ?? "unknown");
}
