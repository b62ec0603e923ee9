import { type IncomingMessage, request as sendRequest, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { answerTo, Refused } from "../records/refusal.ts";
import type { ForwardContext, Origin } from "./forward-context.ts";
import { maxHeaderBytes } from "./forward-http1.ts";
import {
  type Header,
  mayHaveBody,
  ofMessage,
  toHeaders,
  toRaw,
  valueOf,
  without,
} from "../policy/headers.ts";
import type { UpstreamArgs } from "./upstream-agent.ts";
import { prepareRequest } from "./prepare-request.ts";
import { RequestRecord } from "./request-record.ts";
import { untilAnswered } from "./until-answered.ts";

/** A request to speak another protocol, such as a websocket: once the host agrees, bytes are copied. */
export async function forwardUpgrade(
  context: ForwardContext,
  origin: Origin,
  request: IncomingMessage,
  client: Duplex,
  head: Buffer,
  path: string,
): Promise<void> {
  client.on("error", () => client.destroy());
  const record = new RequestRecord(context.ledger, origin.target, request.method ?? "GET", path);
  let isTunnel = false;
  try {
    const headers = toHeaders(request.rawHeaders);
    const prepared = await prepareRequest(context, origin, {
      method: record.method,
      path,
      headers,
      isUpgrade: true,
      body: null,
      askForBody: () => {},
    });
    record.begin(prepared);
    const wanted: Header[] = [
      ["Connection", "Upgrade"],
      ["Upgrade", valueOf(headers, "upgrade") ?? ""],
    ];
    const clientGone = new AbortController();
    const args: UpstreamArgs = {
      clientGone: clientGone.signal,
      agent: origin.agent,
      host: origin.target.host,
      port: origin.target.port,
      method: request.method,
      path: prepared.path,
      headers: toRaw([
        ["Host", prepared.authority],
        ...without(prepared.headers, "content-length"),
        ...wanted,
      ]),
      timeout: context.limits.connectMs,
      maxHeaderSize: maxHeaderBytes,
    };
    const outgoing = sendRequest(args);
    client.once("close", () => {
      clientGone.abort();
      outgoing.destroy();
    });
    const answer = await upgraded(outgoing.end(), origin);
    prepared.check();
    if (client.destroyed) return void answer.socket?.destroy();
    record.status = answer.message.statusCode ?? null;
    const hasAnswerBody = mayHaveBody(record.method, record.status);
    const given = toHeaders(answer.message.rawHeaders);
    const { headers: shown, streams } = prepared.mask?.maskAnswer(given, hasAnswerBody) ?? {
      headers: given,
      streams: [],
    };
    writeHead(client, answer.message, shown);
    if (answer.socket === null) {
      answer.message.on("data", (bytes: Buffer) => record.received(bytes.length));
      await pipeline([answer.message, ...streams, client]);
      return;
    }
    if (answer.head.length > 0) answer.socket.unshift(answer.head);
    if (head.length > 0) client.unshift(head);
    isTunnel = true;
    context.tunnels.join(client, answer.socket, {
      target: origin.target,
      rule: prepared.allowed.rule,
      path: record.path,
      secrets: prepared.secrets,
      check: prepared.check,
    });
  } catch (error) {
    context.report(error, "an upgrade failed");
    if (error instanceof Refused && !(origin.isSecure && error.isOfHost)) context.ledger.refuse(error);
    const { status, sentence } = answerTo(error);
    if (!client.destroyed) client.end(plainAnswer(status, sentence));
  } finally {
    // A tunnel is recorded at its end.
    if (!isTunnel) record.end();
  }
}

type Upgraded = { readonly message: IncomingMessage; readonly socket: Socket | null; readonly head: Buffer };

async function upgraded(outgoing: ReturnType<typeof sendRequest>, origin: Origin): Promise<Upgraded> {
  return await untilAnswered<Upgraded>(outgoing, origin, (resolve) => {
    outgoing.once("upgrade", (message, socket, head) => resolve({ message, socket, head }));
    outgoing.once("response", (message) => resolve({ message, socket: null, head: Buffer.alloc(0) }));
  });
}

function writeHead(client: Duplex, answer: IncomingMessage, headers: readonly Header[]): void {
  const isUpgrade = answer.statusCode === 101;
  const upgrade = valueOf(headers, "upgrade") ?? "";
  const ownConnection: Header[] = isUpgrade
    ? [
        ["Connection", "Upgrade"],
        ["Upgrade", upgrade],
      ]
    : [["Connection", "close"]];
  const lines = [...ofMessage(headers), ...ownConnection].map(([name, value]) => `${name}: ${value}\r\n`);
  client.write(
    `HTTP/1.1 ${answer.statusCode} ${STATUS_CODES[answer.statusCode ?? 0] ?? ""}\r\n${lines.join("")}\r\n`,
    "latin1",
  );
}

/** A sentence as a whole answer, for a connection that no `ServerResponse` is there for. */
export function plainAnswer(status: number, sentence: string): string {
  const body = `${sentence}\n`;
  return [
    `HTTP/1.1 ${status} ${sentence}`,
    "Content-Type: text/plain; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}
