import { createServer as createHttp2Server, constants, type Http2Server } from "node:http2";
import type { Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from "node:tls";
import { socketBufferBytes } from "../addresses/sockets.ts";
import type { CertificateAuthority } from "../certificates/certificate-authority.ts";
import type { ForwardContext, Origin } from "../forward/forward-context.ts";
import { forwardHttp2 } from "../forward/forward-http2.ts";
import { maxHeaderBytes } from "../forward/forward-http1.ts";
import { createForwardServer } from "../forward/serve-origin.ts";
import { isTls, mayOfferHttp2 } from "./first-bytes.ts";
import type { Http2Upstream } from "./http2-upstream.ts";

export type InterceptedHostDeps = {
  readonly context: ForwardContext;
  readonly authority: CertificateAuthority;
  /** TLS to the host. */
  readonly origin: Origin;
  /** The same host and port without TLS. */
  readonly plainOrigin: Origin;
  readonly upstream: Http2Upstream;
};

const pathOnly = "Send a request for a path; the host is that of the connection.";
const sessionWindowBytes = 8 * 1024 * 1024;
/** TLS alerts (RFC 8446, section 6.2) with which a client says that it does not accept a certificate. */
const distrust =
  /ALERT_(?:BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|UNKNOWN_CA|CERTIFICATE_EXPIRED|UNSUPPORTED_CERTIFICATE)/;

/** The servers that stand for one host and port: requests are read here and sent on to that host, whatever they say. */
export class InterceptedHost implements Disposable {
  readonly #deps: InterceptedHostDeps;
  readonly #tls: TlsServer;
  readonly #secure: HttpServer;
  readonly #plain: HttpServer;
  readonly #http2: Http2Server;
  #speaksHttp2 = false;
  #renewAt: number;

  constructor(deps: InterceptedHostDeps) {
    this.#deps = deps;
    const { context, origin, plainOrigin } = deps;
    const leaf = deps.authority.issue(origin.target.host);
    this.#renewAt = leaf.renewAt;
    this.#tls = createTlsServer({
      key: leaf.key,
      cert: leaf.cert,
      // No roots: clients show no certificates.
      ca: deps.authority.certificate,
      handshakeTimeout: context.limits.headMs,
      ALPNCallback: ({ protocols }) => this.#choose(protocols),
    });
    this.#tls.on("secureConnection", (socket) => this.#onSecure(socket));
    this.#tls.on("tlsClientError", (error) => this.#onError(error));
    const serve = (origin: Origin): HttpServer =>
      createForwardServer(context, (path) => (path.startsWith("/") ? { origin, path } : null), pathOnly);
    this.#secure = serve(origin);
    this.#plain = serve(plainOrigin);
    this.#http2 = this.#openHttp2();
  }

  /** Serves a connection whose first bytes are `hello`, still in the socket. */
  async serve(client: Socket, hello: Buffer, isRefused: boolean): Promise<void> {
    if (!isTls(hello)) return void this.#plain.emit("connection", client);
    this.#speaksHttp2 = !isRefused && mayOfferHttp2(hello) && (await this.#deps.upstream.isSpoken());
    if (client.destroyed) return;
    if (Date.now() >= this.#renewAt) this.#renew();
    // Else a session of HTTP/2 would outlive its client.
    client.allowHalfOpen = false;
    this.#tls.emit("connection", client);
  }

  /** Ends what is idle. Its connections go on. */
  rest(): void {
    this.#deps.upstream.rest();
  }

  [Symbol.dispose](): void {
    this.#deps.upstream[Symbol.dispose]();
  }

  /** Only what the host speaks, so that requests are sent on as they come. */
  #choose(protocols: readonly string[]): string | undefined {
    const wanted = this.#speaksHttp2 ? ["h2", "http/1.1"] : ["http/1.1"];
    return wanted.find((protocol) => protocols.includes(protocol));
  }

  #onSecure(socket: TLSSocket): void {
    socket.on("error", (error) => (this.#onError(error), socket.destroy()));
    if (socket.alpnProtocol === "h2") this.#http2.emit("connection", socket);
    else this.#secure.emit("connection", socket);
  }

  #onError(error: Error & { code?: string }): void {
    if (!distrust.test(error.code ?? "")) return;
    const { ledger } = this.#deps.context;
    ledger.record({ kind: "untrusted", at: Date.now(), ...this.#deps.origin.target });
  }

  #openHttp2(): Http2Server {
    const { context, origin, upstream } = this.#deps;
    const server = createHttp2Server({
      maxSendHeaderBlockLength: maxHeaderBytes,
      settings: { initialWindowSize: socketBufferBytes * 2, maxConcurrentStreams: 100 },
    });
    // No listener for "request": Node's layer for it would answer trailers itself.
    server.on("stream", (stream, _headers, flags, rawHeaders) => {
      const hasBody = (flags & constants.NGHTTP2_FLAG_END_STREAM) === 0;
      const given = { stream, rawHeaders, hasBody };
      forwardHttp2(context, origin, async () => upstream.session(), given).catch((error: unknown) => {
        stream.destroy();
        context.report(error, "a failure of a request of HTTP/2 could not be answered");
      });
    });
    server.on("session", (session) => {
      session.on("error", () => session.destroy());
      session.setLocalWindowSize(sessionWindowBytes);
      session.setTimeout(context.limits.idleMs, () => session.close());
    });
    server.on("sessionError", (error) => context.report(error, "a session of HTTP/2 failed"));
    return server;
  }

  #renew(): void {
    const leaf = this.#deps.authority.issue(this.#deps.origin.target.host);
    this.#renewAt = leaf.renewAt;
    this.#tls.setSecureContext({ key: leaf.key, cert: leaf.cert, ca: this.#deps.authority.certificate });
  }
}
