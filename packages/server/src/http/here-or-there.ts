import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import type { FastifyRequest } from "fastify";
import { OwnedElsewhere } from "../engine/refusals.ts";
import { Fault } from "../lib/fault.ts";
import { wait } from "../lib/wait.ts";
import type { Caller } from "../security/caller.ts";
import type { NodeCall, Peers } from "../cluster/peers.ts";
import { beginnerCookies } from "./read-cookie.ts";
import type { RouteReply } from "./route-reply.ts";

/** How often a conversation may move between nodes during one request, however short the timeout. */
const leastTries = 6;
/** The maximum delay between two checks of the owner; the first one is immediate. */
const longestPauseMs = 500;

/**
 * Carries out a request here, or forwards it to the node that owns the conversation. When the owner has just ended,
 * this node takes over; a request from another node is not forwarded again. Throws what `here` throws, and {@link
 * OwnedElsewhere} when no owner could be reached in time.
 */
export async function hereOrThere<Result>(
  here: () => Promise<Result> | Result,
  there: (nodeId: string) => Promise<Result | null>,
  ownerTimeoutMs: number,
  gone: { readonly signal: AbortSignal },
): Promise<Result> {
  const deadlineMs = performance.now() + ownerTimeoutMs;
  for (let tries = 1; ; tries += 1) {
    try {
      return await here();
    } catch (error) {
      const isOver = tries >= leastTries && performance.now() > deadlineMs;
      if (!(error instanceof OwnedElsewhere) || isOver || gone.signal.aborted) throw error;
      const answer = error.holder === null ? null : await there(error.holder);
      if (answer !== null) return answer;
      error.forget();
      await wait(Math.min(longestPauseMs, tries * 50), gone.signal);
    }
  }
}

/** The request to another node that equals the one received here. */
export function toNodeCall(request: FastifyRequest): NodeCall {
  const { method, body, headers } = request;
  const forwarded = Object.entries(headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string" && !ownHeaders.has(entry[0]),
  );
  const cookie = beginnerCookies(headers.cookie);
  return {
    method,
    path: request.raw.url ?? "/",
    headers: { ...Object.fromEntries(forwarded), ...(cookie === "" ? {} : { cookie }) },
    body: body === undefined || body === null ? undefined : JSON.stringify(body),
  };
}

/**
 * Sends the request to another node; null when it no longer owns the conversation. Throws a Fault when the connection
 * breaks: the request may have been carried out.
 */
export async function askNode(
  peers: Peers,
  nodeId: string,
  call: NodeCall,
  caller: Caller,
  signal: AbortSignal,
): Promise<Response | null> {
  const response = await peers.ask(nodeId, call, caller, signal).catch((error: unknown) => {
    const sentence =
      "The server process that works on this conversation broke off before it answered, so the request may have been carried out. Check before you repeat it.";
    throw new Fault("not-now", "owner_away", sentence, [], { cause: error });
  });
  if (response === null || !refusesPass.has(response.status)) return response;
  await response.body?.cancel();
  return null;
}

/** The status for another node that asks a node which is not the owner. */
const notHere = 421;

/** Another process may listen at the address by now; it has another secret. */
const refusesPass: ReadonlySet<number> = new Set([notHere, 401]);

export function notHereReply({ message, code }: OwnedElsewhere): RouteReply {
  return { status: notHere, json: { detail: message, code } };
}

export async function replyOf(response: Response): Promise<RouteReply> {
  const { status, headers: given, body } = response;
  const headers = Object.fromEntries([...given].filter(([name]) => !ownHeaders.has(name)));
  const contentType = given.get("content-type") ?? "application/json";
  const head = { status, headers, contentType };
  if (body === null || contentType.startsWith("application/json"))
    return { ...head, bytes: new Uint8Array(await response.arrayBuffer()) };
  return { ...head, stream: Readable.fromWeb(body as ReadableStream) };
}

/** Hop-by-hop headers, and those that authenticate the caller. */
const ownHeaders: ReadonlySet<string> = new Set([
  "accept-encoding",
  "authorization",
  "connection",
  "content-encoding",
  "content-length",
  "cookie",
  "date",
  "expect",
  "host",
  "keep-alive",
  "origin",
  "referer",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-convoke-node",
  "x-request-id",
  "x-session-api-key",
]);
