import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, createSecureContext, type TLSSocket } from "node:tls";
import { CertificateAuthority } from "../certificates/certificate-authority.ts";
import type { Egress, EgressOptions, EgressRecord } from "../egress.ts";
import { openEgress } from "../open-egress.ts";

export type Answer = {
  readonly status: number;
  readonly reason: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

export type EgressWorld = AsyncDisposable & {
  readonly egress: Egress;
  readonly socketPath: string;
  readonly records: EgressRecord[];
  /** Errors that are no other machine's doing. */
  readonly reported: unknown[];
  /** Names that were resolved, in order. */
  readonly resolved: string[];
  /** Addresses that were connected to, with their ports. */
  readonly dialled: string[];
  /** Lets a name, at a port, lead to a server of the test. Every name has a public address of its own. */
  place(host: string, port: number, server: Server): Promise<void>;
  /** What the next lookups of a name answer. */
  answerWith(host: string, ...addresses: readonly string[][]): void;
  /** A connection to the proxy. */
  open(): Promise<Socket>;
  /** Sends `CONNECT`, and resolves with the socket once it is answered. */
  connect(
    target: string,
  ): Promise<{ readonly status: number; readonly reason: string; readonly socket: Socket }>;
  /** A request with a whole address, for plain HTTP. */
  send(address: string, options?: SendOptions): Promise<Answer>;
  /** TLS inside of a tunnel, with trust in the wall's authority only. */
  secure(target: string, protocols?: readonly string[]): Promise<TLSSocket>;
  /** A request over HTTPS through the proxy, on a connection of its own. */
  get(address: string, options?: SendOptions): Promise<Answer>;
  /** What a server of the test has to show for a name. */
  leaf(host: string): { readonly key: string; readonly cert: string };
  /** Connections of the proxy to servers that are open now. */
  openUpstreams(): number;
};

export type SendOptions = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer;
};

/** An egress in front of servers of the test: names have public addresses, and only the last step leads to this machine. */
export async function openEgressWorld(options: Partial<EgressOptions> = {}): Promise<EgressWorld> {
  await using scope = new AsyncDisposableStack();
  const publicAuthority = new CertificateAuthority();
  const folder = await mkdtemp(join(tmpdir(), "egress-"));
  scope.defer(async () => rm(folder, { recursive: true }));
  const socketPath = join(folder, "egress.sock");
  const addresses = new Map<string, string>();
  const answers = new Map<string, string[][]>();
  const ports = new Map<string, number>();
  const servers = new Set<Server>();
  const upstreams = new Set<Socket>();
  const inner = new Set<Socket>();
  const records: EgressRecord[] = [];
  const reported: unknown[] = [];
  const resolved: string[] = [];
  const dialled: string[] = [];
  const addressOf = (host: string): string => {
    const address = addresses.get(host) ?? `1.0.0.${addresses.size + 1}`;
    addresses.set(host, address);
    return address;
  };
  const egress = await openEgress({
    socketPath,
    policy: "all",
    limitedBy: [],
    secrets: () => [],
    isOwnListener: () => false,
    onRecord: (record) => void records.push(record),
    onUnexpected: (error) => void reported.push(error),
    resolve: async (host) => {
      resolved.push(host);
      const listed = answers.get(host)?.shift() ?? [addressOf(host)];
      return listed.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    },
    connect: (found, port) => {
      const target = `${found[0]!.address}:${port}`;
      dialled.push(target);
      const socket = connect({ port: ports.get(target) ?? 1, host: "127.0.0.1", allowHalfOpen: true });
      upstreams.add(socket);
      return socket.once("close", () => upstreams.delete(socket));
    },
    upstreamTrust: () => createSecureContext({ ca: publicAuthority.certificate }),
    ...options,
  });
  scope.defer(async () => egress.close());
  scope.defer(async () => {
    const closed = [...servers].map(async (server) => once(server, "close"));
    for (const server of servers) server.close();
    for (const socket of [...upstreams, ...inner]) socket.destroy();
    await Promise.all(closed);
  });
  const moved = scope.move();
  const open = async (): Promise<Socket> => {
    const socket = connect({ path: socketPath, allowHalfOpen: true });
    await once(socket, "connect");
    return socket.on("error", () => socket.destroy());
  };
  const connectTo: EgressWorld["connect"] = async (target) => {
    const asked = request({ socketPath, method: "CONNECT", path: target, agent: false });
    asked.end();
    const [answer, socket, head] = (await once(asked, "connect")) as [IncomingMessage, Socket, Buffer];
    if (head.length > 0) socket.unshift(head);
    socket.on("error", () => socket.destroy());
    return { status: answer.statusCode ?? 0, reason: answer.statusMessage ?? "", socket };
  };
  const secure: EgressWorld["secure"] = async (target, protocols = ["http/1.1"]) => {
    const { socket } = await connectTo(target);
    const host = target.replace(/:\d+$/, "");
    const tls = connectTls({
      socket,
      host,
      servername: host,
      ca: egress.certificate,
      ALPNProtocols: [...protocols],
    });
    await once(tls, "secureConnect");
    return tls.on("error", () => tls.destroy());
  };
  return {
    egress,
    socketPath,
    records,
    reported,
    resolved,
    dialled,
    place: async (host, port, server) => {
      if (!server.listening) {
        server.listen(0, "127.0.0.1");
        await once(server, "listening");
        server.on("connection", (socket) => inner.add(socket.once("close", () => inner.delete(socket))));
      }
      servers.add(server);
      ports.set(`${addressOf(host)}:${port}`, (server.address() as AddressInfo).port);
    },
    answerWith: (host, ...lists) => void answers.set(host, [...lists]),
    open,
    connect: connectTo,
    secure,
    get: async (address, { method = "GET", headers = {}, body } = {}) => {
      const { hostname, port, pathname, search, host } = new URL(address);
      const socket = await secure(`${hostname}:${port || 443}`);
      const asked = request({
        createConnection: () => socket,
        method,
        path: pathname + search,
        headers: { host, ...headers, connection: "close" },
      });
      asked.end(body);
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      return readAnswer(answer);
    },
    leaf: (host) => publicAuthority.issue(host),
    send: async (address, { method = "GET", headers = {}, body } = {}) => {
      const { host } = new URL(address);
      const asked = request({
        socketPath,
        method,
        path: address,
        headers: { host, ...headers },
        agent: false,
      });
      asked.end(body);
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      return readAnswer(answer);
    },
    openUpstreams: () => upstreams.size,
    [Symbol.asyncDispose]: async () => moved.disposeAsync(),
  };
}

async function readAnswer(answer: IncomingMessage): Promise<Answer> {
  const body = Buffer.concat(await answer.toArray()).toString();
  return {
    status: answer.statusCode ?? 0,
    reason: answer.statusMessage ?? "",
    headers: answer.headers,
    body,
  };
}
