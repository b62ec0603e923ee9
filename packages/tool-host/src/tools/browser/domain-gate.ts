import {
  createServer,
  request as sendRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isAllowedUrl } from "./browser-params.ts";

export type DomainGateDeps = {
  readonly domains: readonly string[];
  /** May name the proxy behind which this machine is. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onRefused: (address: string) => void;
};

/**
 * A proxy on this machine's loopback through which the pages of one conversation go: it lets through what leads to an allowed domain.
 * Unlike a look at each request in the browser it sees redirects, sockets and workers too.
 */
export class DomainGate implements AsyncDisposable {
  readonly #deps: DomainGateDeps;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();

  private constructor(deps: DomainGateDeps) {
    this.#deps = deps;
    this.#server = createServer((request, response) => this.#pass(request, response));
    this.#server.on("connect", (request: IncomingMessage, socket: Duplex) => this.#tunnel(request, socket));
    this.#server.on("upgrade", (request: IncomingMessage, socket: Duplex) => this.#upgrade(request, socket));
    this.#server.on("connection", (socket: Socket) => this.#own(socket));
    // What a browser sends that is no request is answered by closing.
    this.#server.on("clientError", (_error, socket) => socket.destroy());
  }

  static async open(deps: DomainGateDeps): Promise<DomainGate> {
    const gate = new DomainGate(deps);
    await new Promise<void>((resolve, reject) => {
      gate.#server.once("error", reject);
      gate.#server.listen(0, "127.0.0.1", resolve);
    });
    return gate;
  }

  /** For the browser. */
  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const url = this.#check(request.url ?? "");
    if (url === null) return void response.writeHead(403).end("This domain is not allowed.");
    const onward = this.#upstream("HTTP_PROXY");
    const { "proxy-connection": _, "proxy-authorization": __, ...headers } = request.headers;
    const options =
      onward === null
        ? { host: bare(url.hostname), port: portOf(url), path: `${url.pathname}${url.search}` }
        : { host: onward.hostname, port: portOf(onward), path: url.href };
    const sent = sendRequest({ ...options, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders);
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    sent.on("error", () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.on("close", () => sent.destroy());
    request.pipe(sent);
  }

  #tunnel(request: IncomingMessage, socket: Duplex): void {
    this.#own(socket);
    const url = this.#check(`https://${request.url ?? ""}`);
    if (url === null) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const onward = this.#upstream("HTTPS_PROXY");
    if (onward === null) {
      const target = this.#connect(bare(url.hostname), portOf(url), socket);
      target.once("connect", () => socket.write("HTTP/1.1 200 Connection established\r\n\r\n"));
      return;
    }
    // Its answer is that of the next proxy.
    const target = this.#connect(onward.hostname, portOf(onward), socket);
    target.write(`CONNECT ${request.url} HTTP/1.1\r\nHost: ${request.url}\r\n\r\n`);
  }

  /** A plain socket of the page: its request is sent on as it came. */
  #upgrade(request: IncomingMessage, socket: Duplex): void {
    const url = this.#check(request.url ?? "");
    if (url === null) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    const target = this.#connect(bare(url.hostname), portOf(url), socket);
    const lines = [`${request.method} ${url.pathname}${url.search} HTTP/1.1`];
    for (let at = 0; at < request.rawHeaders.length; at += 2)
      lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`);
    target.write(`${lines.join("\r\n")}\r\n\r\n`);
  }

  #connect(host: string, port: number, socket: Duplex): Socket {
    const target = connect(port, host);
    this.#own(target);
    target.on("error", () => socket.destroy());
    socket.on("error", () => target.destroy());
    socket.on("close", () => target.destroy());
    target.pipe(socket);
    socket.pipe(target);
    return target;
  }

  #own(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  #check(address: string): URL | null {
    const url = URL.parse(address);
    if (url !== null && isAllowedUrl(url, this.#deps.domains)) return url;
    this.#deps.onRefused(url?.host ?? address);
    return null;
  }

  #upstream(name: "HTTP_PROXY" | "HTTPS_PROXY"): URL | null {
    const { environment } = this.#deps;
    const given = environment[name] ?? environment[name.toLowerCase()];
    return given === undefined ? null : URL.parse(given.includes("://") ? given : `http://${given}`);
  }
}

function portOf({ port, protocol }: URL): number {
  return port === "" ? (["https:", "wss:"].includes(protocol) ? 443 : 80) : Number(port);
}

/** Addresses of the sixth version stand in brackets in a URL and without them elsewhere. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}
