import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import {
  type Header,
  mayHaveBody,
  ofMessage,
  toHeaders,
  toRaw,
  valuesOf,
  without,
} from "../policy/headers.ts";
import { answerTo } from "../records/refusal.ts";
import type { EchoMask } from "./echo-mask.ts";
import { endAnswer } from "./end-answer.ts";
import type { PreparedRequest } from "./prepare-request.ts";
import type { RequestRecord } from "./request-record.ts";

/** Sends the answer on, without its end. Rejects when it was cut off, after the client's connection was ended. */
export async function relayHttp1(
  answer: IncomingMessage,
  response: ServerResponse,
  { mask }: PreparedRequest,
  record: RequestRecord,
): Promise<void> {
  const headers = toHeaders(answer.rawHeaders);
  const hasAnswerBody = mayHaveBody(record.method, answer.statusCode);
  const { headers: shown, streams } = mask?.maskAnswer(headers, hasAnswerBody) ?? { headers, streams: [] };
  response.sendDate = false;
  writeHead(response, answer, shown, mask);
  answer.on("data", (bytes: Buffer) => record.received(bytes.length));
  answer.once("end", () => addTrailers(response, answer, (given) => mask?.maskHeaders(given) ?? given));
  // The head must not wait for the first byte of the body.
  response.flushHeaders();
  await pipeline([answer, ...streams, response], { end: false });
}

function writeHead(
  response: ServerResponse,
  answer: IncomingMessage,
  headers: readonly Header[],
  mask: EchoMask | null,
): void {
  // Trailers are announced, or Node does not send them.
  const trailer = valuesOf(headers, "trailer").map((value): Header => ["Trailer", value]);
  const all = toRaw([...without(ofMessage(headers), "trailer"), ...trailer]);
  const given = answer.statusMessage ?? "";
  const isSendable = /^[\t\u0020-\u007e\u0080-\u00ff]*$/u.test(given);
  const reason = isSendable ? (mask?.maskHeaders([["reason", given]])[0]![1] ?? given) : "";
  response.writeHead(answer.statusCode ?? 502, reason, all);
}

export function addTrailers(
  to: ClientRequest | ServerResponse,
  from: IncomingMessage,
  change: (headers: readonly Header[]) => readonly Header[] = (headers) => headers,
): void {
  const trailers = change(toHeaders(from.rawTrailers));
  if (trailers.length > 0) to.addTrailers(trailers.map(([name, value]): [string, string] => [name, value]));
}

/** The sentence as reason phrase and body, for whatever of the two a program prints. */
export async function answerErrorHttp1(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): Promise<void> {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const { status, sentence } = answerTo(error);
  const body = `${sentence}\n`;
  response.writeHead(status, sentence, {
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
  });
  response.write(body);
  await endAnswer(request, response);
}
