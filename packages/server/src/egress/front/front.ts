import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { socketBufferBytes } from "../addresses/sockets.ts";
import type { ForwardContext, Origin } from "../forward/forward-context.ts";
import { forwardHttp1, maxHeaderBytes } from "../forward/forward-http1.ts";
import { forwardUpgrade, plainAnswer } from "../forward/forward-upgrade.ts";
import type { UpstreamAgent } from "../forward/upstream-agent.ts";
import { type Target, toHost, toTarget } from "../policy/host-name.ts";
import { peek } from "./first-bytes.ts";
import { answerSocks, endSocks, readSocksRequest, socksReply } from "./socks.ts";

/** How a client hears whether its tunnel is open, in the protocol that it speaks. */
export type TunnelAnswer = {
  accept(): void;
  refuse(status: number, sentence: string): void;
};

export type FrontDeps = {
  readonly context: ForwardContext;
  readonly agent: UpstreamAgent;
  /** Owns the socket from now on. */
  readonly onTunnel: (socket: Socket, target: Target, answer: TunnelAnswer) => Promise<void>;
};

const socksVersion = 5;
const thisIsAProxy =
  "This is an HTTP proxy: send CONNECT host:port, or a request with a whole http:// address.";

/** Reads the clients' side of the proxy: HTTP, or SOCKS 5, which the first byte tells. */
export class Front {
  readonly #deps: FrontDeps;
  readonly #http: Server;

  constructor(deps: FrontDeps) {
    this.#deps = deps;
    this.#http = createServer({
      maxHeaderSize: maxHeaderBytes,
      highWaterMark: socketBufferBytes,
      requireHostHeader: false,
      requestTimeout: 0,
      keepAliveTimeout: 60_000,
    });
    this.#http.timeout = deps.context.limits.headMs;
    this.#http.on("request", (request, response) => void this.#onRequest(request, response));
    this.#http.on("checkContinue", (request, response) => void this.#onRequest(request, response));
    this.#http.on("upgrade", (request, socket, head) => void this.#onUpgrade(request, socket, head));
    this.#http.on(
      "connect",
      (request, socket, head) => void this.#onConnect(request, socket as Socket, head),
    );
    this.#http.on("clientError", onClientError);
  }

  /** Serves one connection. */
  async serve(socket: Socket): Promise<void> {
    const { headMs } = this.#deps.context.limits;
    const first = await peek(socket, headMs);
    if (first === null) return;
    if (first[0] !== socksVersion) return void this.#http.emit("connection", socket);
    const target = await readSocksRequest(socket, headMs);
    if (target === null) return;
    await this.#deps.onTunnel(socket, target, {
      accept: () => answerSocks(socket, socksReply.done),
      refuse: (status) => endSocks(socket, status === 403 ? socksReply.refused : socksReply.unreachable),
    });
  }

  async #onConnect(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    if (head.length > 0) socket.unshift(head);
    socket.setTimeout(0);
    const target = toTarget(request.url ?? "");
    if (target === null) return void socket.end(plainAnswer(400, thisIsAProxy));
    await this.#deps.onTunnel(socket, target, {
      accept: () => socket.write("HTTP/1.1 200 Connection Established\r\n\r\n"),
      refuse: (status, sentence) => socket.end(plainAnswer(status, sentence)),
    });
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const address = readAddress(request.url ?? "");
    if (address === null) {
      response.writeHead(400, { "Content-Type": "text/plain; charset=utf-8" });
      response.end(`${thisIsAProxy}\n`);
      return;
    }
    await forwardHttp1(this.#deps.context, this.#originOf(address.target), request, response, address.path);
  }

  async #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const address = readAddress(request.url ?? "");
    if (address === null) return void socket.end(plainAnswer(400, thisIsAProxy));
    const origin = this.#originOf(address.target);
    await forwardUpgrade(this.#deps.context, origin, request, socket, head, address.path);
  }

  #originOf(target: Target): Origin {
    return { target, isSecure: false, agent: this.#deps.agent };
  }
}

/** Target and path of an absolute `http://` address; the path as it was written. */
function readAddress(address: string): { readonly target: Target; readonly path: string } | null {
  const [, authority = "", rest = ""] = /^http:\/\/([^/?#]*)([^#]*)/i.exec(address) ?? [];
  const target = toTarget(authority) ?? withPort(toHost(authority));
  return target === null ? null : { target, path: rest.startsWith("/") ? rest : `/${rest}` };
}

function withPort(host: string | null): Target | null {
  return host === null ? null : { host, port: 80 };
}

/** What Node's parser refuses, and a silent client. */
function onClientError(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
  socket.end(plainAnswer(400, "The request is not HTTP that this proxy reads."));
}
