import {
  request as sendRequest,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import { toInnerHeaders, toOuterHeaders, type PortHeaderContext } from "./port-headers.ts";

/** Forwards a request over `stream`, which it closes, and the answer back. */
export function forwardRequest(
  incoming: IncomingMessage,
  response: ServerResponse,
  stream: Duplex,
  context: PortHeaderContext,
): void {
  const outgoing = openInner(incoming, stream, context);
  outgoing.once("response", (answer) => {
    response.writeHead(
      answer.statusCode ?? 502,
      answer.statusMessage,
      toOuterHeaders(answer.headers, context, incoming.headers.origin),
    );
    // When the inner server breaks off or the client disconnects, both sides end.
    pipeline(answer, response).catch(() => response.destroy());
  });
  outgoing.once("error", () => refuse(response, context));
  response.once("close", () => outgoing.destroy());
  // The end of the answer reports a request that broke off.
  pipeline(incoming, outgoing).catch(() => {});
}

/**
 * Forwards an upgrade, e.g. to a WebSocket, and then bytes in both directions until either side ends. A client
 * disconnect before the answer ends the request.
 */
export function forwardUpgrade(incoming: IncomingMessage, stream: Duplex, context: PortHeaderContext): void {
  const { socket } = incoming;
  const outgoing = openInner(incoming, stream, context);
  const endBoth = (): void => {
    socket.destroy();
    stream.destroy();
  };
  for (const side of [socket, stream]) side.once("error", endBoth).once("close", endBoth);
  const early = readEarly(socket, endBoth);
  outgoing.once("upgrade", (answer, inner, head) => {
    socket.write(headOf(answer, context, incoming.headers.origin, true));
    socket.write(head);
    socket.setTimeout(0);
    inner.write(early.take());
    socket.pipe(inner).pipe(socket);
  });
  outgoing.once("response", (answer) => {
    socket.write(headOf(answer, context, incoming.headers.origin, false));
    pipeline(answer, socket).catch(endBoth);
  });
  outgoing.once("error", () => socket.end(badGateway));
  outgoing.end();
}

/** The maximum that a client may send before its upgrade is answered. */
const maxEarlyBytes = 64 * 1024;

/** Reads from a client early, because a disconnect is only detected while reading. */
function readEarly(socket: Duplex, onLeft: () => void): { readonly take: () => Buffer } {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const keep = (chunk: Buffer): void => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxEarlyBytes) onLeft();
  };
  socket.on("data", keep).once("end", onLeft);
  return {
    take: () => {
      socket.off("data", keep).off("end", onLeft);
      return Buffer.concat(chunks);
    },
  };
}

function openInner(incoming: IncomingMessage, stream: Duplex, context: PortHeaderContext): ClientRequest {
  const { upgrade } = incoming.headers;
  return sendRequest({
    createConnection: () => stream,
    method: incoming.method ?? "GET",
    path: context.path.rest,
    headers: {
      ...toInnerHeaders(incoming.headers, context),
      ...(upgrade === undefined ? { connection: "close" } : { connection: "Upgrade", upgrade }),
    },
  });
}

function headOf(
  answer: IncomingMessage,
  context: PortHeaderContext,
  origin: string | undefined,
  isUpgrade: boolean,
): string {
  const headers = {
    ...toOuterHeaders(answer.headers, context, origin),
    ...(isUpgrade ? { connection: "Upgrade", upgrade: answer.headers.upgrade } : { connection: "close" }),
  };
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (one === undefined ? [] : [`${name}: ${one}`])),
  );
  return [`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`, ...lines, "", ""].join("\r\n");
}

const sentence = "Nothing at this port answers as a web server.";
const badGateway = `HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;

function refuse(response: ServerResponse, { path }: PortHeaderContext): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(502, { "content-type": "application/json" });
  response.end(JSON.stringify({ detail: `${sentence} Port: ${path.port}.`, code: "port_not_answering" }));
}
