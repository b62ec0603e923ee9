import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Begun, Observer } from "../observability/observer.ts";
import type { Caller } from "../security/caller.ts";

/** A call that was accepted or refused; without its contents, but for decisions about what agents may do. */
export type AuditedCall = {
  readonly requestId: string;
  /** Null for an unauthenticated caller. */
  readonly user: string | null;
  /** The id of an issued key; null for configured keys. */
  readonly keyId: string | null;
  /** The id of the browser's login; null for all other calls. */
  readonly loginId: string | null;
  /** How the call was authenticated when it was not by a user's key. */
  readonly means: Caller["means"] | null;
  /** Where the connection comes from: the client, or the proxy in front. */
  readonly peer: string;
  readonly method: string;
  /** A template, e.g. `/api/conversations/:conversation_id`. */
  readonly route: string;
  /** The ids of the object, by parameter of the route. */
  readonly target: Readonly<Record<string, string>>;
  /** 101 for an accepted socket, 401 for a refused one; 499 when the client disconnected before an answer began. */
  readonly status: number;
  /** See `audit-notes.ts`; absent for most calls. */
  readonly note?: object;
};

declare module "fastify" {
  interface FastifyRequest {
    /** The request as an activity; null when it never began. */
    activity: Begun | null;
    /** The caller, as far as known; null: unauthenticated. */
    caller: Caller | null;
    /** True once the end of the request was reported. */
    isReported: boolean;
    /** True for a request that another node forwards: that node has reported the call. */
    isForwarded: boolean;
    /** True for a wrong key that is answered like a missing object. */
    isRefused: boolean;
    /** What the audit log has of the body; null: nothing. */
    auditNote: object | null;
    /** Reports that the request became a socket of this caller; null: an unauthenticated socket, which is closed. */
    noteSocket(caller: Caller | null): void;
  }
}

/** Told of what clients do. */
export interface CallListener {
  /** A client is there. */
  active(): void;
  /** A call was accepted or refused. */
  ended(call: AuditedCall): void;
}

export const noCallListener: CallListener = { active: () => {}, ended: () => {} };

export type ObserveDeps = { readonly observer: Observer; readonly calls: CallListener };

/** Wildcard parts of paths are left out: they may be long, and others choose them. */
const restParameter = "*";

const maxTargetLetters = 200;

/**
 * Each request is an activity with the activities of its handler as parts; calls are reported when they are answered.
 */
export function observeRequests(app: FastifyInstance, { observer, calls }: ObserveDeps): void {
  const end = (request: FastifyRequest, status: number): void => {
    if (request.isReported) return;
    request.isReported = true;
    if (request.activity !== null) {
      const error = status >= 500 ? String(status) : null;
      observer.end(request.activity, {
        error,
        status,
        isForwarded: request.isForwarded,
      });
    }
    if (isAudited(request, status)) calls.ended(toAuditedCall(request, status));
  };
  app.decorateRequest("activity", null);
  app.decorateRequest("caller", null);
  app.decorateRequest("isReported", false);
  app.decorateRequest("isRefused", false);
  app.decorateRequest("isForwarded", false);
  app.decorateRequest("auditNote", null);
  app.decorateRequest("noteSocket", function noteSocket(this: FastifyRequest, caller: Caller | null): void {
    this.caller = caller;
    end(this, caller === null ? 401 : 101);
  });
  app.addHook("onRequest", (request, reply, done) => {
    reply.header(requestIdHeader, request.id);
    request.activity = observer.begin({
      kind: "request",
      requestId: request.id,
      method: request.method,
      route: routeOf(request),
    });
    // A call is also reported when its client disconnects before the answer is complete.
    reply.raw.once("close", () => end(request, statusAtClose(request, reply)));
    done();
  });
  // After the body: its arrival loses the asynchronous context.
  app.addHook("preHandler", (request, _reply, done) => {
    if (request.activity === null) done();
    else observer.within(request.activity, done);
  });
  app.addHook("onResponse", (request, { statusCode }, done) => {
    end(request, statusCode);
    done();
  });
}

/** Every answer has the id by which the logs identify it. */
export const requestIdHeader = "x-request-id";

export function toAuditedCall(request: FastifyRequest, status: number): AuditedCall {
  const { caller } = request;
  return {
    requestId: request.id,
    user: caller?.userId ?? null,
    keyId: caller?.keyId ?? null,
    loginId: caller?.loginId ?? null,
    means: caller?.means ?? null,
    peer: request.socket.remoteAddress ?? "",
    method: request.method,
    route: routeOf(request),
    target: targetOf(request),
    status,
    ...(request.auditNote === null ? {} : { note: request.auditNote }),
  };
}

function isAudited(request: FastifyRequest, status: number): boolean {
  if (request.isForwarded) return false;
  return request.caller !== null || request.isRefused || status === 401 || status === 403;
}

function statusAtClose(request: FastifyRequest, reply: FastifyReply): number {
  if (request.ws) return 101;
  return reply.raw.headersSent ? reply.raw.statusCode : 499;
}

function targetOf(request: FastifyRequest): Record<string, string> {
  const params = (request.params ?? {}) as Readonly<Record<string, string | undefined>>;
  const target: Record<string, string> = {};
  for (const name of Object.keys(params)) {
    const value = params[name];
    if (value === undefined || name === restParameter) continue;
    // The address of a sandbox's port may have the key of that port behind the sandbox's id.
    const id = name === "sandbox_id" ? value.split("~", 1)[0]! : value;
    target[name] = id.slice(0, maxTargetLetters);
  }
  return target;
}

function routeOf(request: FastifyRequest): string {
  return request.is404 ? "unknown" : (request.routeOptions.url ?? "unknown");
}
