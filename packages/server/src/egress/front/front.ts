import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import type { ForwardContext } from "../forward/forward-context.ts";
import { plainAnswer } from "../forward/forward-upgrade.ts";
import { createForwardServer } from "../forward/serve-origin.ts";
import type { UpstreamAgent } from "../forward/upstream-agent.ts";
import { peek } from "../intercept/first-bytes.ts";
import { type Target, toHost, toTarget } from "../../lib/host-name.ts";
import { Refused } from "../records/refusal.ts";
import { answerSocks, endSocks, readSocksRequest, socksReply } from "./socks.ts";

/** How a client hears whether its tunnel is open, in the protocol that it speaks. */
export type TunnelAnswer = {
  accept(): void;
  refuse(status: number, sentence: string): void;
};

export type FrontDeps = {
  readonly context: ForwardContext;
  /** For requests over plain HTTP. */
  readonly agent: UpstreamAgent;
  /** Owns the socket from now on. */
  readonly onTunnel: (socket: Socket, target: Target, answer: TunnelAnswer) => Promise<void>;
};

const socksVersion = 5;
/** How long a client that was refused may go on sending. */
const refusedMs = 1_000;
const thisIsAProxy =
  "This is an HTTP proxy: send CONNECT host:port, or a request with a whole http:// address.";

/** Reads the clients' side of the proxy: HTTP, or SOCKS 5, which the first byte tells. */
export class Front {
  readonly #deps: FrontDeps;
  readonly #http: Server;

  constructor(deps: FrontDeps) {
    this.#deps = deps;
    this.#http = createForwardServer(
      deps.context,
      (address) => {
        const read = readAddress(address);
        if (read === null) return null;
        return { origin: { target: read.target, isSecure: false, agent: deps.agent }, path: read.path };
      },
      thisIsAProxy,
    );
    this.#http.on("connect", (request, socket, head) => {
      const client = socket as Socket;
      this.#onConnect(request, client, head).catch((error: unknown) => this.#onError(client, error));
    });
  }

  /** Serves one connection. Never rejects: whatever a client sends, only its own connection ends. */
  async serve(socket: Socket): Promise<void> {
    await this.#serve(socket).catch((error: unknown) => this.#onError(socket, error));
  }

  /** For a connection beyond the maximum: what it asks for is not read. */
  refuseConnection(socket: Socket): void {
    const { ledger, limits } = this.#deps.context;
    const sentence = `This wall has ${limits.maxConnections} connections open, which is the maximum.`;
    ledger.refuse(new Refused({ host: "(any host)", port: 0 }, "too-many-connections", sentence));
    // The end comes after the client's, or it would be a reset, with which an answer that was not read yet is lost.
    socket.resume().once("end", () => socket.destroy());
    socket.end(plainAnswer(503, sentence));
    const timer = setTimeout(() => socket.destroy(), refusedMs);
    socket.once("close", () => clearTimeout(timer));
  }

  async #serve(socket: Socket): Promise<void> {
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

  #onError(socket: Socket, error: unknown): void {
    socket.destroy();
    this.#deps.context.report(error, "a connection of a client failed");
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
