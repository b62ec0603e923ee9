import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { pipeline, type Readable } from "node:stream";
import { type Header, mayHaveBody, ofMessage, toHeaders, valueOf, valuesOf } from "../policy/headers.ts";
import { answerTo, Refused, Unreachable } from "../records/refusal.ts";
import type { EchoMask } from "./echo-mask.ts";
import type { ForwardContext, Origin } from "./forward-context.ts";
import { type PreparedRequest, prepareRequest } from "./prepare-request.ts";
import { RequestRecord } from "./request-record.ts";

export type Http2Request = {
  readonly stream: ServerHttp2Stream;
  /** As they came, with those whose names begin with a colon. */
  readonly rawHeaders: readonly string[];
  readonly hasBody: boolean;
};

/** One request of HTTP/2 to its end, with trailers and both directions at the same time. Never throws. */
export async function forwardHttp2(
  context: ForwardContext,
  origin: Origin,
  openSession: () => Promise<ClientHttp2Session>,
  { stream, rawHeaders, hasBody }: Http2Request,
): Promise<void> {
  const all = toHeaders(rawHeaders);
  const method = valueOf(all, ":method") ?? "";
  const path = valueOf(all, ":path") ?? "";
  const record = new RequestRecord(context.ledger, origin.target, method, path);
  stream.on("error", (error) => context.report(error, "a stream of a client failed"));
  try {
    if (method === "CONNECT" || !path.startsWith("/")) {
      throw new Refused(origin.target, "read-only", "Only requests for a path are sent on.");
    }
    const prepared = await prepareRequest(context, origin, {
      method,
      path,
      headers: all.filter(([name]) => !name.startsWith(":")),
      isUpgrade: false,
      body: hasBody ? stream : null,
      askForBody: () => stream.closed || stream.additionalHeaders({ ":status": 100 }),
    });
    const session = await openSession();
    prepared.check();
    if (stream.destroyed || stream.closed) return;
    record.begin(prepared);
    await exchange(context, origin, { session, stream, hasBody, method, all, prepared, record });
  } catch (error) {
    context.report(error, "a request of HTTP/2 failed");
    if (error instanceof Refused && !error.isOfHost) context.ledger.refuse(error);
    answerError(stream, error);
  } finally {
    record.end();
  }
}

type Exchange = {
  readonly session: ClientHttp2Session;
  readonly stream: ServerHttp2Stream;
  readonly hasBody: boolean;
  readonly method: string;
  readonly all: readonly Header[];
  readonly prepared: PreparedRequest;
  readonly record: RequestRecord;
};

async function exchange(context: ForwardContext, { target }: Origin, given: Exchange): Promise<void> {
  const { session, stream, hasBody, method, all, prepared, record } = given;
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  const isCopied = hasBody && prepared.body === null;
  const takesTrailers = valuesOf(all, "te").some((value) => /\btrailers\b/i.test(value));
  const upstream = session.request(
    {
      ":method": method,
      ":path": prepared.path,
      ":scheme": "https",
      ":authority": prepared.authority,
      ...toObject(prepared.headers),
      ...(takesTrailers ? { te: "trailers" } : {}),
      ...(prepared.body === null ? {} : { "content-length": prepared.body.length }),
    },
    { endStream: !hasBody, waitForTrailers: isCopied },
  );
  context.connections.add(upstream, prepared.check);
  upstream.setTimeout(context.limits.idleMs, () =>
    upstream.destroy(new Unreachable(target, 504, "It was silent for too long.")),
  );
  upstream.on("error", (error) => {
    // Nothing was done with the request: the client may send it again.
    if (upstream.rstCode === constants.NGHTTP2_REFUSED_STREAM) stream.close(upstream.rstCode);
    reject(error);
  });
  upstream.once("close", () => {
    if (!stream.headersSent)
      reject(new Unreachable(target, 502, "It ended the connection without an answer."));
    else if (upstream.rstCode !== constants.NGHTTP2_NO_ERROR) stream.close(upstream.rstCode);
    // Nothing of the request is read any more.
    if (!stream.readableEnded) stream.resume();
    resolve();
  });
  // What a host sends may be nothing that Node sends on, which it throws.
  const guarded: Guarded = (act) => {
    try {
      act();
    } catch (error) {
      reject(error);
      upstream.close(constants.NGHTTP2_CANCEL);
    }
  };
  stream.once("close", () => void (upstream.destroyed || upstream.close(constants.NGHTTP2_CANCEL)));
  upstream.on("continue", () => guarded(() => stream.additionalHeaders({ ":status": 100 })));
  upstream.once("response", (headers, flags, raw) => {
    record.status = headers[":status"] ?? null;
    const isEnd = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0 || !mayHaveBody(method, record.status);
    const answer = { raw: raw ?? [], status: record.status, isEnd, mask: prepared.mask, record };
    guarded(() => relay(upstream, stream, answer, guarded));
  });
  if (isCopied) sendBody(stream, upstream, record, guarded);
  else if (prepared.body !== null) {
    record.sent(prepared.body.length);
    upstream.end(prepared.body);
  }
  await ended;
}

/** Runs what may throw because of what the other side sent, and then fails the exchange. */
type Guarded = (act: () => void) => void;

function sendBody(
  stream: ServerHttp2Stream,
  upstream: ClientHttp2Stream,
  record: RequestRecord,
  guarded: Guarded,
): void {
  let trailers: OutgoingHttpHeaders = {};
  stream.on("trailers", (headers) => (trailers = withoutPseudo(headers)));
  upstream.once("wantTrailers", () => guarded(() => upstream.sendTrailers(trailers)));
  stream.on("data", (bytes: Buffer) => record.sent(bytes.length));
  stream.pipe(upstream);
}

type Answer = {
  readonly raw: readonly string[];
  readonly status: number | null;
  /** No body follows. */
  readonly isEnd: boolean;
  readonly mask: EchoMask | null;
  readonly record: RequestRecord;
};

function relay(
  upstream: ClientHttp2Stream,
  stream: ServerHttp2Stream,
  answer: Answer,
  guarded: Guarded,
): void {
  const headers = toHeaders(answer.raw).filter(([name]) => !name.startsWith(":"));
  const { headers: shown, streams } = answer.mask?.maskAnswer(headers, !answer.isEnd) ?? {
    headers,
    streams: [],
  };
  if (stream.destroyed || stream.closed) return;
  const head = { ":status": answer.status ?? 502, ...toObject(ofMessage(shown)) };
  stream.respond(head, answer.isEnd ? { endStream: true } : { waitForTrailers: true });
  if (answer.isEnd) return void upstream.resume();
  let trailers: OutgoingHttpHeaders = {};
  upstream.on("trailers", (_headers, _flags, raw) => {
    const given = toHeaders(raw ?? []);
    trailers = toObject(answer.mask?.maskHeaders(given) ?? given);
  });
  // `close()` instead would make some clients wait for an end of the stream that never comes.
  stream.once("wantTrailers", () => guarded(() => stream.sendTrailers(trailers)));
  upstream.on("data", (bytes: Buffer) => answer.record.received(bytes.length));
  const last: Readable = streams.at(-1) ?? upstream;
  const onEnd = (error: NodeJS.ErrnoException | null): void => {
    if (error !== null && error !== undefined) guarded(() => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
  };
  if (streams.length > 0) pipeline([upstream, ...streams], onEnd);
  last.pipe(stream);
}

/** Repeated names become a list, as Node's HTTP/2 has them. */
function toObject(headers: readonly Header[]): OutgoingHttpHeaders {
  const object: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>;
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    const known = object[lower];
    object[lower] = known === undefined ? value : [known, value].flat();
  }
  return object;
}

function withoutPseudo(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(":")));
}

function answerError(stream: ServerHttp2Stream, error: unknown): void {
  if (stream.destroyed || stream.closed) return;
  if (stream.headersSent) return stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  const { status, sentence } = answerTo(error);
  stream.respond({ ":status": status, "content-type": "text/plain; charset=utf-8" });
  stream.end(`${sentence}\n`);
}
