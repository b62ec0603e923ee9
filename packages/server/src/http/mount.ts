import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import type { Route } from "@convoke/protocol";
import { Fault } from "../lib/fault.ts";
import type { Caller } from "./auth.ts";
import { bodyLimitBytes, largeBodyLimitBytes } from "./errors.ts";
import { readRequest, type ReadDeps } from "./read-request.ts";
import type { RouteRequest } from "./route-request.ts";

export type { RouteRequest } from "./route-request.ts";

type ReplyHead = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
};

/** `text` goes out as it is: stored JSON is never parsed and written again. `stream` is destroyed when the client leaves. */
export type RouteReply = ReplyHead &
  (
    | { readonly json: unknown }
    | { readonly text: string }
    | { readonly stream: Readable; readonly contentType: string }
    | { readonly bytes: Uint8Array; readonly contentType: string }
  );

export type RouteHandler = (request: RouteRequest) => Promise<RouteReply> | RouteReply;

export type MountDeps = ReadDeps & {
  /** Null for a stranger. */
  readonly authenticate: (request: FastifyRequest) => Caller | null;
  /** For routes that a cookie opens too; null for a stranger. */
  readonly authenticateCookie?: (request: FastifyRequest) => Caller | null;
};

/** Serves each route of a table with its handler. */
export function mountRoutes<Operation extends string>(
  app: FastifyInstance,
  routes: Readonly<Record<Operation, Route>>,
  handlers: Readonly<Record<Operation, RouteHandler>>,
  deps: MountDeps,
): void {
  for (const operation of Object.keys(routes) as Operation[]) {
    const route = routes[operation];
    const handler = handlers[operation];
    const authenticate = (request: FastifyRequest): Caller | null => {
      const caller = deps.authenticate(request);
      if (caller !== null || route.acceptsCookie !== true) return caller;
      return deps.authenticateCookie?.(request) ?? null;
    };
    const options: RouteOptions = {
      method: route.method,
      url: toUrl(route),
      bodyLimit: route.takesLargeBody === true ? largeBodyLimitBytes : bodyLimitBytes,
      config: { ignoresBody: route.body === undefined && route.form === undefined },
      onRequest: async (request) => {
        if (route.auth) {
          request.caller = authenticate(request);
          if (request.caller === null) throw unauthorized();
        }
        if (request.ws) throw new Fault("unusable", "not_a_socket", "There is no socket at this address.");
      },
      handler: async (request, reply) => {
        const caller = authenticate(request);
        // Asked again: a key can be revoked while the body arrives.
        if (route.auth && caller === null) throw unauthorized();
        const read = await readRequest(request, route, caller ?? stranger, deps);
        const gone = new AbortController();
        reply.raw.once("close", () => {
          if (!reply.raw.writableFinished) gone.abort();
        });
        send(reply, await handler({ ...read, signal: gone.signal, request }));
        return reply;
      },
    };
    if (route.form === undefined) app.route(options);
    else mountForm(app, options);
  }
}

/** In a scope of its own, because no other route reads forms. The handler sets the limits and reads what arrives. */
function mountForm(app: FastifyInstance, options: RouteOptions): void {
  void app.register(async (scope) => {
    const { default: multipart } = await import("@fastify/multipart");
    await scope.register(multipart, { limits: { fileSize: Infinity } });
    scope.route(options);
  });
}

function toUrl({ path, restParameter }: Route): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === restParameter ? "*" : `:${name}`));
}

const stranger: Caller = { userId: "" };

function unauthorized(): Fault {
  return new Fault("stranger", "unauthorized", "Unauthorized");
}

function send(reply: FastifyReply, answer: RouteReply): void {
  reply.status(answer.status ?? 200).headers({ ...answer.headers });
  if ("stream" in answer) void reply.type(answer.contentType).send(answer.stream);
  else if ("bytes" in answer) void reply.type(answer.contentType).send(answer.bytes);
  else {
    reply.header("content-type", "application/json");
    void reply.send("text" in answer ? answer.text : JSON.stringify(answer.json));
  }
}

/** One table of routes with what serves it. */
export type Face = { readonly routes: readonly Route[]; mount(app: FastifyInstance, deps: MountDeps): void };

/** Joins a table with its handlers; every operation needs one. */
export function face<Operation extends string>(
  routes: Readonly<Record<Operation, Route>>,
  handlers: Readonly<Record<Operation, RouteHandler>>,
  completeBody: NonNullable<MountDeps["completeBody"]> = {},
): Face {
  return {
    routes: Object.values(routes),
    mount: (app, deps) => mountRoutes(app, routes, handlers, { ...deps, completeBody }),
  };
}
