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

/** A conversation may move from server to server so often while one request for it is under way, however short the patience. */
const leastTries = 6;
/** Between two looks at who works on it: at first at once, then so far apart at most. */
const longestPauseMs = 500;

/**
 * Does something here, or has it done by the server that works on the conversation. One that has just ended leaves it to this one; a
 * request that came from a neighbour goes no further. Throws what `here` throws, and {@link OwnedElsewhere} when nobody could be asked
 * for so long.
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

/** A request for another node, as this one was asked. */
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
 * Asks another node; null when it does not work on the conversation any more. Throws a Fault when it breaks off: what was asked may
 * have been done.
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
      "The server process that works on this conversation broke off before it answered, so what was asked may have been done. Look before you ask again.";
    throw new Fault("not-now", "owner_away", sentence, [], { cause: error });
  });
  if (response === null || !refusesPass.has(response.status)) return response;
  await response.body?.cancel();
  return null;
}

/** The status for a neighbour that asks the wrong server. */
const notHere = 421;

/** Another process may listen by now where the one listened that is asked, and it has a secret of its own. */
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

/** What a message is about on its own way only, and what tells who asks. */
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
