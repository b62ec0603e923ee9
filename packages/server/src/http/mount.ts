import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Route } from "@convoke/protocol";
import { readQuery, type RawQuery, type Validator } from "@convoke/protocol/validate";
import { Fault } from "../lib/fault.ts";
import type { Caller } from "./auth.ts";

/** A request after authentication and validation; what the handler reads has the types of its route's schemas. */
export type RouteRequest = {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
  /** The body as it came, before anything was filled in. */
  readonly rawBody: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

/** `text` goes out as it is: stored JSON is never parsed and written again. */
export type RouteReply =
  | { readonly status?: number; readonly json: unknown }
  | { readonly status?: number; readonly text: string };

export type RouteHandler = (request: RouteRequest) => Promise<RouteReply> | RouteReply;

export type MountDeps = {
  readonly validator: Validator;
  /** Null for a stranger. */
  readonly authenticate: (request: FastifyRequest) => Caller | null;
  /** By operation id: adds to a body, before it is checked, what its caller has set for requests that leave it out. */
  readonly completeBody?: Readonly<Record<string, (body: unknown, caller: Caller) => Promise<unknown>>>;
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
    app.route({
      method: route.method,
      url: route.path.replaceAll(/\{(\w+)\}/g, ":$1"),
      onRequest: async (request) => {
        if (route.auth && deps.authenticate(request) === null) throw unauthorized();
      },
      handler: async (request, reply) => {
        const caller = deps.authenticate(request);
        // Asked again: a key can be revoked while the body arrives.
        if (route.auth && caller === null) throw unauthorized();
        send(reply, await handler(await readRequest(request, route, caller ?? stranger, deps)));
        return reply;
      },
    });
  }
}

const stranger: Caller = { userId: "" };

function unauthorized(): Fault {
  return new Fault("stranger", "unauthorized", "Unauthorized");
}

async function readRequest(
  request: FastifyRequest,
  route: Route,
  caller: Caller,
  { validator, completeBody = {} }: MountDeps,
): Promise<RouteRequest> {
  const check = (schema: NonNullable<Route["body"]>, value: unknown, where: string): unknown => {
    const checked = validator.check<unknown>(schema, value, [where]);
    if (!checked.ok) throw new Fault("caller", "validation", `The ${where} is not valid.`, checked.errors);
    return checked.value;
  };
  const params = { ...(request.params as Record<string, string>) };
  if (route.params !== undefined) check(route.params, params, "path");
  const query = route.query === undefined ? {} : readQuery(route.query, request.query as RawQuery);
  if (route.query !== undefined) check(route.query, query, "query");
  const complete = completeBody[route.operationId];
  const completed = complete === undefined ? request.body : await complete(request.body, caller);
  return {
    caller,
    params,
    query,
    body:
      route.body === undefined
        ? undefined
        : readBody(completed, route, (value) => check(route.body!, value, "body")),
    rawBody: request.body,
    headers: request.headers,
  };
}

function readBody(raw: unknown, route: Route, check: (value: unknown) => unknown): unknown {
  if ((raw === undefined || raw === null) && route.isBodyOptional === true) return undefined;
  // A copy, because the check fills defaults in and handlers may need to know what was really sent.
  const copy: unknown = structuredClone(raw);
  return check(route.tolerateBody === undefined ? copy : route.tolerateBody(copy));
}

function send(reply: FastifyReply, answer: RouteReply): void {
  reply.status(answer.status ?? 200).header("content-type", "application/json");
  void reply.send("text" in answer ? answer.text : JSON.stringify(answer.json));
}
