import {
  createServer,
  request as sendRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect, type AddressInfo, type LookupFunction, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isAllowedUrl } from "./browser-params.ts";
import { ClosedAddress, type OwnAddresses } from "./own-addresses.ts";

export type DomainGateDeps = {
  /** Null allows all domains. */
  readonly domains: readonly string[] | null;
  readonly closed: OwnAddresses;
  /** May contain the proxy of this machine. */
  readonly environment: Readonly<Record<string, string>>;
  readonly onRefused: (address: string) => void;
  /** Called when a page requested a closed address. */
  readonly onClosed: (address: string) => void;
};

/**
 * A local proxy for the pages of one conversation. It only forwards to allowed domains, and never to a closed address, whatever name
 * resolves to it. Unlike a check of each request in the browser it also sees redirects, sockets and workers.
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
    // Anything that is not a request is answered by closing the connection.
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

  /** The proxy's address, for the browser. */
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
    const onward = this.#upstream("HTTP_PROXY", url);
    // A closed connection is an error in the browser; an answer would be a page.
    if (this.#isClosed(url)) return void response.destroy();
    const { "proxy-connection": _, "proxy-authorization": __, ...headers } = request.headers;
    const options =
      onward === null
        ? { ...this.#target(url), path: `${url.pathname}${url.search}` }
        : { host: onward.hostname, port: portOf(onward), path: url.href };
    const sent = sendRequest({ ...options, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders);
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    sent.on("error", (error) => {
      if (response.headersSent || error instanceof ClosedAddress) response.destroy();
      else response.writeHead(502).end();
    });
    response.on("close", () => sent.destroy());
    request.pipe(sent);
  }

  #tunnel(request: IncomingMessage, socket: Duplex): void {
    this.#own(socket);
    const url = this.#check(`https://${request.url ?? ""}`);
    if (url === null) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    if (this.#isClosed(url)) return void socket.destroy();
    const onward = this.#upstream("HTTPS_PROXY", url);
    if (onward === null) {
      const target = this.#connect(this.#target(url), socket);
      target.once("connect", () => socket.write("HTTP/1.1 200 Connection established\r\n\r\n"));
      return;
    }
    // The reply is that of the next proxy.
    const target = this.#connect({ host: onward.hostname, port: portOf(onward) }, socket);
    target.write(`CONNECT ${request.url} HTTP/1.1\r\nHost: ${request.url}\r\n\r\n`);
  }

  /** A plain connection of the page: its request is forwarded unchanged. */
  #upgrade(request: IncomingMessage, socket: Duplex): void {
    const url = this.#check(request.url ?? "");
    if (url === null) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    if (this.#isClosed(url)) return void socket.destroy();
    const target = this.#connect(this.#target(url), socket);
    const lines = [`${request.method} ${url.pathname}${url.search} HTTP/1.1`];
    for (let at = 0; at < request.rawHeaders.length; at += 2)
      lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`);
    target.write(`${lines.join("\r\n")}\r\n\r\n`);
  }

  /** An address is checked here, a name after its lookup. */
  #isClosed(url: URL): boolean {
    if (!this.#deps.closed.isClosed(url.hostname, portOf(url))) return false;
    this.#deps.onClosed(url.host);
    return true;
  }

  #target(url: URL): Target {
    const port = portOf(url);
    const lookup = this.#deps.closed.lookupFor(port, () => this.#deps.onClosed(url.host));
    return { host: bare(url.hostname), port, lookup };
  }

  #connect(to: Target, socket: Duplex): Socket {
    const target = connect(to);
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

  #upstream(name: "HTTP_PROXY" | "HTTPS_PROXY", { hostname }: URL): URL | null {
    const { environment } = this.#deps;
    if (isDirect(hostname, environment["NO_PROXY"] ?? environment["no_proxy"] ?? "")) return null;
    const given = environment[name] ?? environment[name.toLowerCase()];
    return given === undefined ? null : URL.parse(given.includes("://") ? given : `http://${given}`);
  }
}

type Target = { readonly host: string; readonly port: number; readonly lookup?: LookupFunction };

/** Local servers, and hosts that the environment lists, are reached without the next proxy. */
function isDirect(hostname: string, noProxy: string): boolean {
  const name = bare(hostname).toLowerCase().replace(/\.$/, "");
  if (/(?:^|\.)localhost$|^127\.|^::1$/.test(name)) return true;
  const names = noProxy.toLowerCase().split(",");
  return names.some((entry) => {
    const suffix = entry.trim().replace(/^\*?\./, "");
    return suffix === "*" || (suffix !== "" && (name === suffix || name.endsWith(`.${suffix}`)));
  });
}

function portOf({ port, protocol }: URL): number {
  return port === "" ? (["https:", "wss:"].includes(protocol) ? 443 : 80) : Number(port);
}

/** IPv6 addresses have brackets in a URL and none elsewhere. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}
