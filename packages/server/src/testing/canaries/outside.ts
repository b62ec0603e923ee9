import { once } from "node:events";
import { createServer as createHttpsServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { createSecureContext, createServer as createTlsServer, type SecureContext } from "node:tls";
import { CertificateAuthority } from "../../egress/certificates/certificate-authority.ts";
import { presetHosts } from "../../egress/policy/presets.ts";
import type { Outside } from "../../walls/walls-deps.ts";

/** Every host of the network, as servers of the test on 127.0.0.1. */
export type OutsideWorld = AsyncDisposable & {
  /** For walls. */
  readonly ways: Outside;
  /** Names that were resolved. */
  readonly resolved: string[];
  /** What reached the host of the preset, decrypted. */
  readonly atPublicHosts: string[];
  /** What reached any other host, and the machine itself, decrypted. */
  readonly atStrangers: string[];
  /** A port of this machine on which everything goes to `atStrangers`. */
  readonly localPort: number;
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** `own` are hosts with a server of the test's; all other names lead to servers that keep what they get. */
export async function openOutside(own: Readonly<Record<string, Handler>>): Promise<OutsideWorld> {
  await using scope = new AsyncDisposableStack();
  const authority = new CertificateAuthority();
  const sockets = new Set<Socket>();
  const resolved: string[] = [];
  const atPublicHosts: string[] = [];
  const atStrangers: string[] = [];
  const addresses = new Map<string, string>();
  const contexts = new Map<string, SecureContext>();
  const contextOf = (host: string): SecureContext => {
    const known = contexts.get(host) ?? createSecureContext(authority.issue(host));
    contexts.set(host, known);
    return known;
  };
  const listen = async (server: Server): Promise<number> => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    server.on("connection", (socket: Socket) =>
      sockets.add(socket.once("close", () => sockets.delete(socket))),
    );
    scope.defer(() => void server.close());
    return (server.address() as AddressInfo).port;
  };
  const keep = (received: string[]) => (socket: Socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", (bytes) => {
      received.push(bytes.toString("latin1"));
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
  };
  const keepTls = (received: string[]): Server =>
    createTlsServer(
      { ...authority.issue("unknown.example"), SNICallback: (host, done) => done(null, contextOf(host)) },
      keep(received),
    );
  const local = await listen(createServer(keep(atStrangers)));
  const strangers = { plain: local, secure: await listen(keepTls(atStrangers)) };
  const publicHosts = {
    plain: await listen(createServer(keep(atPublicHosts))),
    secure: await listen(keepTls(atPublicHosts)),
  };
  const ports = new Map<string, { readonly plain: number; readonly secure: number }>();
  for (const [host, handler] of Object.entries(own)) {
    const secure = await listen(createHttpsServer(authority.issue(host), handler));
    ports.set(host, { plain: strangers.plain, secure });
  }
  const isPublic = new Set(presetHosts.registries);
  const hosts = new Map<string, string>();
  const trust = createSecureContext({ ca: authority.certificate });
  const ways: Outside = {
    resolve: async (host) => {
      resolved.push(host);
      const address = addresses.get(host) ?? `1.0.${addresses.size >> 8}.${(addresses.size % 250) + 1}`;
      addresses.set(host, address);
      hosts.set(address, host);
      return [{ address, family: 4 }];
    },
    connect: (found, port) => {
      const host = hosts.get(found[0]!.address) ?? "";
      const place = ports.get(host) ?? (isPublic.has(host) ? publicHosts : strangers);
      const to = port === 443 ? place.secure : place.plain;
      return connect({ port: to, host: "127.0.0.1", allowHalfOpen: true });
    },
    upstreamTrust: () => trust,
  };
  scope.defer(() => {
    for (const socket of sockets) socket.destroy();
  });
  const moved = scope.move();
  return {
    ways,
    resolved,
    atPublicHosts,
    atStrangers,
    localPort: local,
    [Symbol.asyncDispose]: async () => moved.disposeAsync(),
  };
}
