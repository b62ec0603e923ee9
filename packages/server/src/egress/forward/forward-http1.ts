import {
  type ClientRequest,
  type IncomingMessage,
  request as sendRequest,
  type ServerResponse,
} from "node:http";
import { type Header, toHeaders, toRaw, valueOf } from "../policy/headers.ts";
import { Refused, Unreachable } from "../records/refusal.ts";
import { endAnswer } from "./end-answer.ts";
import type { ForwardContext, Origin } from "./forward-context.ts";
import { type PreparedRequest, prepareRequest } from "./prepare-request.ts";
import { addTrailers, answerErrorHttp1, relayHttp1 } from "./relay-http1.ts";
import { RequestRecord } from "./request-record.ts";
import { untilAnswered } from "./until-answered.ts";
import type { UpstreamArgs } from "./upstream-agent.ts";

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
    const framing = framingOf(record.method, headers);
    const prepared = await prepareRequest(context, origin, {
      method: record.method,
      path,
      headers,
      isUpgrade: false,
      body: hasBody(headers) ? request : null,
      askForBody: () => response.writeContinue(),
    });
    record.begin(prepared);
    const answer = await send({ context, origin, request, response, prepared, framing, record });
    record.status = answer.statusCode ?? null;
    await relayHttp1(answer, response, prepared, record);
    await endAnswer(request, response);
  } catch (error) {
    context.report(error, "a request failed");
    // A host that was refused as a whole is counted when the connection to it is asked for.
    if (error instanceof Refused && !(origin.isSecure && error.isOfHost)) context.ledger.refuse(error);
    await answerErrorHttp1(request, response, error);
  } finally {
    record.end();
  }
}

type Sending = {
  readonly context: ForwardContext;
  readonly origin: Origin;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly prepared: PreparedRequest;
  readonly framing: readonly Header[];
  readonly record: RequestRecord;
};

/** Sends the request and resolves with the head of its answer. */
async function send(sending: Sending): Promise<IncomingMessage> {
  const { origin, request, response, prepared, record } = sending;
  const outgoing = open(sending);
  outgoing.on("continue", () => response.writeContinue());
  const answered = answerOf(outgoing, origin);
  if (prepared.body !== null) {
    record.sent(prepared.body.length);
    outgoing.end(prepared.body);
  } else if (hasBody(toHeaders(request.rawHeaders))) {
    request.on("data", (bytes: Buffer) => record.sent(bytes.length));
    sendBody(request, outgoing);
  } else {
    outgoing.end();
    return await answered.catch(async (error: unknown) => {
      const isStale = outgoing.reusedSocket && !(error instanceof Unreachable) && !response.destroyed;
      if (!isStale) throw error;
      // The host closed an idle connection at that moment; without a body the request can be sent again.
      const again = open(sending);
      again.end();
      return await answerOf(again, origin);
    });
  }
  return await answered;
}

function open({ context, origin, request, response, prepared, framing }: Sending): ClientRequest {
  const length: Header[] = [["Content-Length", String(prepared.body?.length ?? 0)]];
  const clientGone = new AbortController();
  const args: UpstreamArgs = {
    clientGone: clientGone.signal,
    agent: origin.agent,
    host: origin.target.host,
    port: origin.target.port,
    method: request.method ?? "GET",
    path: prepared.path,
    headers: toRaw([
      ["Host", prepared.authority],
      ...prepared.headers,
      ...(prepared.body === null ? framing : length),
    ]),
    timeout: context.limits.idleMs,
    maxHeaderSize: maxHeaderBytes,
  };
  const outgoing = sendRequest(args);
  context.connections.add(outgoing, prepared.check);
  response.once("close", () => {
    clientGone.abort();
    if (!response.writableFinished) outgoing.destroy();
  });
  return outgoing;
}

async function answerOf(outgoing: ClientRequest, origin: Origin): Promise<IncomingMessage> {
  return await untilAnswered(outgoing, origin, (resolve) => outgoing.once("response", resolve));
}

/** A host may answer before it read all, and even end its connection: the rest is dropped then, and the client reads the answer. */
function sendBody(request: IncomingMessage, outgoing: ClientRequest): void {
  request.once("end", () => addTrailers(outgoing, request));
  // Without data Node would keep the head back.
  outgoing.flushHeaders();
  request.pipe(outgoing);
  outgoing.once("close", () => request.unpipe(outgoing).resume());
}

/** How the body is delimited, of a request that Node's parser accepted. */
function framingOf(method: string, headers: readonly Header[]): Header[] {
  if (valueOf(headers, "transfer-encoding") !== undefined) return [["Transfer-Encoding", "chunked"]];
  if (valueOf(headers, "content-length") !== undefined) return [];
  return ["POST", "PUT", "PATCH"].includes(method) ? [["Content-Length", "0"]] : [];
}

function hasBody(headers: readonly Header[]): boolean {
  return (
    valueOf(headers, "transfer-encoding") !== undefined || Number(valueOf(headers, "content-length") ?? 0) > 0
  );
}
