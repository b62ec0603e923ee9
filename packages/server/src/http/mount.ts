import { leastRole, type Route, type RouteInput } from "@convoke/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import { OwnedElsewhere } from "../engine/refusals.ts";
import { Fault } from "../lib/fault.ts";
import type { Caller } from "../security/caller.ts";
import { requireRole } from "../security/roles.ts";
import { auditNoteOf } from "./audit-notes.ts";
import { ClientDisconnect } from "./client-disconnect.ts";
import { LargeAnswers } from "./large-answers.ts";
import { askNode, hereOrThere, notHereReply, replyOf, toNodeCall } from "./here-or-there.ts";
import type { Peers } from "../cluster/peers.ts";
import { bodyLimitBytes, largeBodyLimitBytes } from "./errors.ts";
import { readRequest, type ReadDeps } from "./read-request.ts";
import { requireScope } from "./require-scope.ts";
import type { RouteReply } from "./route-reply.ts";
import type { RouteRequest } from "./route-request.ts";
import { warningHeader } from "./unused-fields.ts";
import { hasSlashes, sendToPlace } from "./without-slash.ts";

export type { RouteReply } from "./route-reply.ts";
export type { RouteRequest } from "./route-request.ts";

export type RouteHandler = (request: RouteRequest) => Promise<RouteReply> | RouteReply;

type Routes = Readonly<Record<string, Route>>;

/** A request of one route of a table, with the types of its schemas. */
export type RequestOf<R extends Route> = Omit<RouteRequest, keyof RouteInput<R>> & RouteInput<R>;

/** What serves each route of a table. */
export type Handlers<Table extends Routes> = {
  readonly [Operation in keyof Table]: (
    request: RequestOf<Table[Operation]>,
  ) => Promise<RouteReply> | RouteReply;
};

/** The handlers of any table, for what serves an operation by its name: its requests were checked by the schemas of its route. */
export function byOperation(handlers: object): Readonly<Record<string, RouteHandler>> {
  return handlers as Readonly<Record<string, RouteHandler>>;
}

/** Who makes a request; null for an unauthenticated caller. */
export interface Callers {
  authenticate(request: FastifyRequest): Caller | null;
  /** For routes that also accept a cookie. */
  authenticateCookie(request: FastifyRequest): Caller | null;
}

export type MountDeps = ReadDeps & {
  readonly callers: Callers;
  /**
   * Adds one warning to the conversation's log that names the unused fields of a request. Rejects only with
   * `OwnedElsewhere`.
   */
  readonly reportUnused?: (
    caller: Caller,
    conversationId: string,
    fields: readonly string[],
  ) => Promise<void>;
  /** Forwards requests to the owning node; absent: requests are not forwarded. */
  readonly peers?: Peers;
};

/** Serves each route of a table with its handler. */
export function mountRoutes<Table extends Routes>(
  app: FastifyInstance,
  routes: Table,
  handlers: Handlers<NoInfer<Table>>,
  deps: MountDeps,
): void {
  const largeAnswers = new LargeAnswers();
  for (const [operation, route] of Object.entries<Route>(routes)) {
    const handler = byOperation(handlers)[operation]!;
    const authenticate = (request: FastifyRequest): Caller | null => {
      const caller = deps.callers.authenticate(request);
      if (caller !== null || route.acceptsCookie !== true) return caller;
      return deps.callers.authenticateCookie(request);
    };
    const admit = (caller: Caller | null, { params }: FastifyRequest): void => {
      if (caller === null) throw unauthorized();
      requireRole(caller, leastRole(route));
      requireScope(caller, route, params as Record<string, string>);
    };
    const isPlain = !hasSlashes(route, Object.values(routes));
    const options: RouteOptions = {
      method: route.method,
      url: toUrl(route),
      bodyLimit: route.takesLargeBody === true ? largeBodyLimitBytes : bodyLimitBytes,
      config: { ignoresBody: route.body === undefined && route.form === undefined },
      onRequest: (request, reply, done) => {
        if (isPlain && sendToPlace(request, reply)) return;
        if (route.auth) admit((request.caller = authenticate(request)), request);
        if (request.caller !== null) countRequest(request.caller, request, reply);
        if (request.ws) throw new Fault("unusable", "not_a_socket", "There is no socket at this address.");
        done();
      },
      handler: async (request, reply) => {
        // Checked again: a key can be revoked, or its user be given a lesser role, while the body arrives.
        const caller = route.auth && !hasBody(request) ? request.caller : authenticate(request);
        if (route.auth) admit(caller, request);
        const read = await readRequest(request, route, caller ?? stranger, deps);
        request.auditNote = auditNoteOf(operation, read.body);
        const gone = new ClientDisconnect(reply.raw);
        const handle = (): Promise<RouteReply> | RouteReply =>
          handler({
            ...read,
            request,
            get signal() {
              return gone.signal;
            },
          });
        const here = read.unused.length === 0 ? handle : () => handleAndReport(handle, read, deps);
        if (read.unused.length > 0) reply.header("warning", warningHeader(read.unused));
        const { peers } = deps;
        const asked = { here, caller: read.caller, gone };
        const answer = async (): Promise<RouteReply> => {
          if (peers === undefined) return await here();
          if (route.form !== undefined) return await answerFormFor(peers, request, asked);
          return await answerFor(peers, request, asked);
        };
        if (route.mayAnswerMuch === true)
          send(reply, await withinBounds(largeAnswers, read.caller.userId, reply, answer));
        else send(reply, await answer());
        return reply;
      },
    };
    if (route.form === undefined) app.route(options);
    else mountForm(app, options);
  }
}

/** Counts a request against the limits of its caller; throws for one too many. The node that forwards it has counted it. */
function countRequest(caller: Caller, request: FastifyRequest, reply: FastifyReply): void {
  const taken = request.isForwarded ? null : request.server.rateLimits.take(caller);
  if (taken === null) return;
  reply.headers(taken.headers);
  if (taken.refusal !== null) throw taken.refusal;
}

/** The request is carried out first; then the conversation gets the warning about unused fields. */
async function handleAndReport(
  handle: () => Promise<RouteReply> | RouteReply,
  { caller, params, unused }: Pick<RouteRequest, "caller" | "params" | "unused">,
  { reportUnused }: MountDeps,
): Promise<RouteReply> {
  const answer = await handle();
  const id = params["conversation_id"];
  if (id !== undefined) await reportUnused?.(caller, id, unused);
  return answer;
}

/** Makes the answer when the user has a free slot; a large answer holds the slot until the client has read it. */
async function withinBounds(
  largeAnswers: LargeAnswers,
  userId: string,
  reply: FastifyReply,
  answer: () => Promise<RouteReply>,
): Promise<RouteReply> {
  const pass = await largeAnswers.begin(userId);
  let bytes = 0;
  try {
    const made = await answer();
    bytes = "text" in made ? made.text.length : "bytes" in made ? made.bytes.length : 0;
    return made;
  } finally {
    pass.made(bytes);
    if (reply.raw.closed) pass.taken();
    else reply.raw.once("close", () => pass.taken());
  }
}

type Asked = {
  readonly here: () => Promise<RouteReply> | RouteReply;
  readonly caller: Caller;
  readonly gone: ClientDisconnect;
};

/** A request from another node is answered here, or refused so that the node searches the owner again. */
async function answerFor(
  peers: Peers,
  request: FastifyRequest,
  { here, caller, gone }: Asked,
): Promise<RouteReply> {
  if (peers.callerOf(request) !== null) {
    try {
      return await here();
    } catch (error) {
      if (error instanceof OwnedElsewhere) return notHereReply(error);
      throw error;
    }
  }
  const there = async (nodeId: string): Promise<RouteReply | null> => {
    const response = await askNode(peers, nodeId, toNodeCall(request), caller, gone.signal);
    return response === null ? null : await replyOf(response);
  };
  return await hereOrThere(here, there, peers.ownerTimeoutMs, gone);
}

/** A forwarded form is consumed, so it is sent to one other node only. */
async function answerFormFor(
  peers: Peers,
  request: FastifyRequest,
  { here, caller, gone }: Asked,
): Promise<RouteReply> {
  try {
    return await here();
  } catch (error) {
    if (!(error instanceof OwnedElsewhere)) throw error;
    if (peers.callerOf(request) !== null) return notHereReply(error);
    if (error.holder === null) throw error;
    const call = { ...toNodeCall(request), body: request.raw };
    const response = await askNode(peers, error.holder, call, caller, gone.signal);
    if (response === null) throw error;
    return await replyOf(response);
  }
}

/** In its own scope, because no other route reads forms. The handler sets the limits and reads the form. */
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

function hasBody({ headers }: FastifyRequest): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}

const stranger: Caller = { userId: "" };

function unauthorized(): Fault {
  return new Fault("stranger", "unauthorized", "Unauthorized");
}

function send(reply: FastifyReply, answer: RouteReply): void {
  reply.status(answer.status ?? 200);
  if (answer.headers !== undefined) reply.headers(answer.headers);
  if ("stream" in answer) void reply.type(answer.contentType).send(answer.stream);
  else if ("bytes" in answer) {
    const { bytes, again } = answer;
    if (again !== undefined) reply.request.repeatable = { bytes, again };
    void reply.type(answer.contentType).send(bytes);
  } else {
    reply.header("content-type", "application/json");
    void reply.send("text" in answer ? answer.text : JSON.stringify(answer.json));
  }
}

/** One table of routes with what serves it. */
export type Face = { readonly routes: readonly Route[]; mount(app: FastifyInstance, deps: MountDeps): void };

/** Joins a table with its handlers; every operation needs one. */
export function face<Table extends Routes>(
  routes: Table,
  handlers: Handlers<NoInfer<Table>>,
  completeBody: NonNullable<MountDeps["completeBody"]> = {},
): Face {
  return {
    routes: Object.values(routes),
    mount: (app, deps) => mountRoutes(app, routes, handlers, { ...deps, completeBody }),
  };
}
