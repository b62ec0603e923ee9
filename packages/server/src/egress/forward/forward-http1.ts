import {
  type ClientRequest,
  type IncomingMessage,
  request as sendRequest,
  type ServerResponse,
} from "node:http";
import { pipeline } from "node:stream/promises";
import { answerTo, Refused, Unreachable } from "../records/refusal.ts";
import type { ForwardContext, Origin } from "./forward-context.ts";
import { type Header, ofMessage, toHeaders, toRaw, valueOf, valuesOf } from "../policy/headers.ts";
import { type PreparedRequest, prepareRequest } from "./prepare-request.ts";
import { RequestRecord } from "./request-record.ts";

export const maxHeaderBytes = 64 * 1024;

/** One request of HTTP/1.1 to its end. Never throws: what fails is answered, or ends the client's connection. */
export async function forwardHttp1(
  context: ForwardContext,
  origin: Origin,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  const record = new RequestRecord(context.ledger, origin.target, request.method ?? "GET", path);
  // From here the connection to the host has the time limit: it is silent too where the client is.
  request.socket.setTimeout(0);
  try {
    const headers = toHeaders(request.rawHeaders);
    const prepared = prepareRequest(context, origin, {
      method: record.method,
      path,
      headers,
      isUpgrade: false,
    });
    record.begin(prepared);
    request.on("data", (bytes: Buffer) => record.sent(bytes.length)).pause();
    const answer = await send(
      context,
      origin,
      request,
      response,
      prepared,
      framingOf(record.method, headers),
    );
    record.status = answer.statusCode ?? null;
    await relay(answer, response, record);
  } catch (error) {
    if (error instanceof Refused) context.ledger.refuse(error);
    answerError(response, error);
  } finally {
    record.end();
  }
}

/** Sends the request and resolves with the head of its answer. */
async function send(
  context: ForwardContext,
  origin: Origin,
  request: IncomingMessage,
  response: ServerResponse,
  prepared: PreparedRequest,
  framing: readonly Header[],
): Promise<IncomingMessage> {
  const outgoing = open(context, origin, request.method ?? "GET", prepared, framing);
  const answered = answerOf(outgoing, origin);
  const onClose = (): void => void (response.writableFinished || outgoing.destroy());
  response.once("close", onClose);
  outgoing.on("continue", () => response.writeContinue());
  // Its end is the end of the request; an answer may come before, and what fails then fails the answer too.
  const body = sendBody(request, outgoing);
  body.catch(() => {});
  try {
    return await answered;
  } catch (error) {
    const isStale = outgoing.reusedSocket && framing.length === 0 && !response.destroyed;
    if (!isStale || error instanceof Unreachable || error instanceof Refused) throw error;
    // The host closed an idle connection at that moment; without a body the request can be sent again.
    const again = open(context, origin, request.method ?? "GET", prepared, framing);
    response.once("close", () => void (response.writableFinished || again.destroy()));
    again.end();
    return await answerOf(again, origin);
  } finally {
    response.off("close", onClose);
    response.once("close", () => void (response.writableFinished || outgoing.destroy()));
  }
}

function open(
  { limits }: ForwardContext,
  { target, agent }: Origin,
  method: string,
  { path, headers, authority }: PreparedRequest,
  framing: readonly Header[],
): ClientRequest {
  return sendRequest({
    agent,
    host: target.host,
    port: target.port,
    method,
    path,
    headers: toRaw([["Host", authority], ...headers, ...framing]),
    timeout: limits.idleMs,
    maxHeaderSize: maxHeaderBytes,
  });
}

async function answerOf(outgoing: ClientRequest, { target }: Origin): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  outgoing.once("response", resolve);
  outgoing.once("timeout", () =>
    outgoing.destroy(new Unreachable(target, 504, "It was silent for too long.")),
  );
  outgoing.on("error", reject);
  outgoing.once("close", () =>
    reject(new Unreachable(target, 502, "It ended the connection without an answer.")),
  );
  return promise;
}

async function sendBody(request: IncomingMessage, outgoing: ClientRequest): Promise<void> {
  request.once("end", () => {
    const trailers = toHeaders(request.rawTrailers);
    if (trailers.length > 0)
      outgoing.addTrailers(trailers.map(([name, value]): [string, string] => [name, value]));
  });
  await pipeline(request, outgoing);
}

/** Sends the answer on. Rejects when it was cut off, after the client's connection was ended. */
async function relay(
  answer: IncomingMessage,
  response: ServerResponse,
  record: RequestRecord,
): Promise<void> {
  const headers = ofMessage(toHeaders(answer.rawHeaders));
  response.sendDate = false;
  writeHead(response, answer, headers);
  answer.on("data", (bytes: Buffer) => record.received(bytes.length));
  answer.once("end", () => {
    const trailers = toHeaders(answer.rawTrailers);
    if (trailers.length > 0)
      response.addTrailers(trailers.map(([name, value]): [string, string] => [name, value]));
  });
  // The head must not wait for the first byte of the body.
  response.flushHeaders();
  await pipeline(answer, response);
}

function writeHead(response: ServerResponse, answer: IncomingMessage, headers: readonly Header[]): void {
  // Trailers are announced, or Node does not send them.
  const trailer = valuesOf(toHeaders(answer.rawHeaders), "trailer").map(
    (value) => ["Trailer", value] as const,
  );
  const all = toRaw([...headers.filter(([name]) => name.toLowerCase() !== "trailer"), ...trailer]);
  const reason = /^[\t\u0020-\u007e\u0080-\u00ff]*$/u.test(answer.statusMessage ?? "")
    ? answer.statusMessage
    : "";
  response.writeHead(answer.statusCode ?? 502, reason, all);
}

/** How the body is delimited, of a request that Node's parser accepted. Empty without a body. */
function framingOf(method: string, headers: readonly Header[]): Header[] {
  if (valueOf(headers, "transfer-encoding") !== undefined) return [["Transfer-Encoding", "chunked"]];
  const length = valueOf(headers, "content-length");
  if (length !== undefined) return [];
  return ["POST", "PUT", "PATCH"].includes(method) ? [["Content-Length", "0"]] : [];
}

/** The sentence as reason phrase and body, for whatever of the two a program prints. */
function answerError(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const { status, sentence } = answerTo(error);
  const body = `${sentence}\n`;
  response.writeHead(status, sentence, {
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(body);
}
