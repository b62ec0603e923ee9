import { type ClientHttp2Session, connect } from "node:http2";
import type { TLSSocket } from "node:tls";
import { socketBufferBytes } from "../addresses/sockets.ts";
import type { UpstreamAgent } from "../forward/upstream-agent.ts";
import { formatTarget, type Target } from "../../lib/host-name.ts";
import { Unreachable } from "../records/refusal.ts";

/** A session without requests is closed after this time, before most hosts do it. */
const idleMs = 30_000;
/** How long it is remembered which protocol a host speaks. */
const knownMs = 600_000;
const sessionWindowBytes = 8 * 1024 * 1024;

export type Http2UpstreamDeps = {
  readonly target: Target;
  readonly open: (protocols: readonly string[]) => Promise<TLSSocket>;
  /** Gets a connection on which the host chose HTTP/1.1. */
  readonly agent: UpstreamAgent;
};

/** The one HTTP/2 session to a host, and whether the host speaks HTTP/2 at all. */
export class Http2Upstream implements Disposable {
  readonly #deps: Http2UpstreamDeps;
  #session: ClientHttp2Session | null = null;
  #opening: Promise<ClientHttp2Session | null> | null = null;
  #known: { readonly isSpoken: boolean; readonly until: number } | null = null;

  constructor(deps: Http2UpstreamDeps) {
    this.#deps = deps;
  }

  /** Asks the host by a connection, which is used for the next request. False also when it cannot be reached: requests say why. */
  async isSpoken(): Promise<boolean> {
    if (this.#known !== null && Date.now() < this.#known.until) return this.#known.isSpoken;
    const session = await this.#open().catch(() => null);
    return session !== null;
  }

  /** Rejects with `Refused` or `Unreachable`. */
  async session(): Promise<ClientHttp2Session> {
    const session = await this.#open();
    if (session === null) throw new Unreachable(this.#deps.target, 502, "It does not speak HTTP/2 any more.");
    return session;
  }

  /** Closes the session once its requests have ended; a later request opens another one. */
  rest(): void {
    this.#session?.close();
    this.#session = null;
  }

  [Symbol.dispose](): void {
    this.#session?.destroy();
  }

  /** Null when the host chose HTTP/1.1. */
  async #open(): Promise<ClientHttp2Session | null> {
    if (this.#session !== null) return this.#session;
    this.#opening ??= this.#connect().finally(() => (this.#opening = null));
    return await this.#opening;
  }

  async #connect(): Promise<ClientHttp2Session | null> {
    const { target, open, agent } = this.#deps;
    const socket = await open(["h2", "http/1.1"]);
    const isSpoken = socket.alpnProtocol === "h2";
    this.#known = { isSpoken, until: Date.now() + knownMs };
    if (!isSpoken) {
      agent.offer(target, socket);
      return null;
    }
    const session = connect(`https://${formatTarget(target)}`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: socketBufferBytes * 2 },
    });
    this.#use(session);
    return session;
  }

  #use(session: ClientHttp2Session): void {
    this.#session = session;
    const leave = (): void => void (this.#session === session && (this.#session = null));
    // Each of its requests fails with it, and its client hears of that.
    session.on("error", leave).once("goaway", leave).once("close", leave);
    session.once("connect", () => session.setLocalWindowSize(sessionWindowBytes));
    session.setTimeout(idleMs, () => {
      if (session.closed || session.destroyed) return;
      leave();
      session.close();
    });
  }
}
