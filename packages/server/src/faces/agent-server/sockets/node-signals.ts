import type { FastifyInstance } from "fastify";
import { WebSocket } from "ws";
import type { Cluster } from "../../../cluster/cluster.ts";
import type { Directory } from "../../../directory/directory.ts";
import type { ForwardedSignal } from "../../../engine/signals.ts";
import type { Peers } from "../../../cluster/peers.ts";
import type { Journal } from "../../../journal/journal.ts";
import { describeError } from "../../../lib/describe-error.ts";
import { Fault } from "../../../lib/fault.ts";
import type { Logger } from "../../../lib/logger.ts";
import { releaseExchange } from "./socket-handshake.ts";

export type NodeSignalsDeps = {
  readonly cluster: Pick<Cluster, "nodeId" | "nodes">;
  readonly peers: Pick<Peers, "findWay" | "callerOf">;
  readonly directory: Pick<Directory, "forward" | "receive">;
  readonly journal: Pick<Journal, "onCommit" | "pollNow">;
  /** True when the store reports appends of other nodes with a delay. */
  readonly publishesAppends: boolean;
  readonly logger: Logger;
};

/** A subscription between nodes: follow the signals of some conversations, and leave others. */
type Asked = { readonly follow: readonly string[]; readonly leave: readonly string[] };

/** A signal, and the log's last position when it was made, if known. The signal null says that the log has grown. */
type NodeSignal = {
  readonly id: string;
  readonly atSeq: number | null;
  readonly signal: ForwardedSignal | null;
};

const path = "/sockets/nodes";
/** The interval between two polls for nodes that came or went. */
const pollMs = 1000;
/**
 * Above this many unsent bytes chunks of answers are dropped; above the lower mark, signals that a later one
 * supersedes.
 */
const highWaterBytes = 1_000_000;
const lowWaterBytes = 64_000;
/** The maximum number of conversations that one node follows at another. */
const maxFollowed = 10_000;

/**
 * Sends signals (chunks of answers and progress of tools) from the owner of a conversation to the nodes whose sockets
 * show it: one connection from each node with such sockets to every other node. Signals are never stored, and are
 * dropped when a node is behind.
 */
export class NodeSignals implements Disposable {
  readonly #deps: NodeSignalsDeps;
  readonly #followed = new Map<string, number>();
  readonly #sockets = new Map<string, WebSocket>();
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;
  #isClosed = false;

  constructor(deps: NodeSignalsDeps) {
    this.#deps = deps;
  }

  /** Subscribes the conversation's listeners here to its signals at other nodes. Returns the unsubscribe function. */
  follow(id: string): () => void {
    const count = this.#followed.get(id) ?? 0;
    this.#followed.set(id, count + 1);
    if (count === 0) this.#ask({ follow: [id], leave: [] });
    if (this.#timer === undefined && !this.#isClosed) {
      this.#timer = setInterval(() => void this.#poll(), pollMs).unref();
      void this.#poll();
    }
    return () => this.#leave(id);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#stop();
  }

  /** Mounts the socket for other nodes. */
  mount(app: FastifyInstance): void {
    const { peers, logger } = this.#deps;
    app.get(
      path,
      {
        websocket: true,
        preHandler: releaseExchange,
        onRequest: async (request) => {
          if (peers.callerOf(request) === null) throw new Fault("stranger", "unauthorized", "Unauthorized");
        },
      },
      (socket) => {
        const forwarder = new Forwarder(socket, this.#deps);
        socket.on("close", () => forwarder[Symbol.dispose]());
        socket.on("error", (error) =>
          logger.warn({ error: error.message }, "a node sent an unreadable frame"),
        );
        onFrames(socket, (asked) => forwarder.receive(asked as Asked));
      },
    );
  }

  #leave(id: string): void {
    const left = (this.#followed.get(id) ?? 1) - 1;
    if (left > 0) {
      this.#followed.set(id, left);
      return;
    }
    this.#followed.delete(id);
    this.#ask({ follow: [], leave: [id] });
    if (this.#followed.size === 0) this.#stop();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const socket of this.#sockets.values()) socket.terminate();
    this.#sockets.clear();
  }

  #ask(asked: Asked): void {
    for (const socket of this.#sockets.values())
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(asked));
  }

  /** Never rejects: the next poll retries. */
  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    try {
      const { cluster } = this.#deps;
      const others = (await cluster.nodes()).filter(
        ({ id, address }) => id !== cluster.nodeId && address !== null,
      );
      for (const [nodeId, socket] of this.#sockets) {
        if (!others.some(({ id }) => id === nodeId)) socket.terminate();
      }
      for (const { id } of others) if (!this.#sockets.has(id)) await this.#connect(id);
    } catch (error) {
      this.#deps.logger.warn(
        { error: describeError(error) },
        "the signals of other nodes could not be subscribed to",
      );
    } finally {
      this.#isPolling = false;
    }
  }

  async #connect(nodeId: string): Promise<void> {
    const way = await this.#deps.peers.findWay(nodeId, "GET", path, { userId: "" });
    if (way === null || this.#timer === undefined) return;
    const { target, headers } = way;
    target.protocol = target.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(target, { headers, perMessageDeflate: false, handshakeTimeout: 5 * pollMs });
    this.#sockets.set(nodeId, socket);
    socket.on("open", () => socket.send(JSON.stringify({ follow: [...this.#followed.keys()], leave: [] })));
    onFrames(socket, (sent) => this.#receive(sent as NodeSignal));
    // A close follows, and the next poll reconnects.
    socket.on("error", () => {});
    socket.on("close", () => {
      if (this.#sockets.get(nodeId) === socket) this.#sockets.delete(nodeId);
    });
  }

  #receive({ id, signal, atSeq }: NodeSignal): void {
    if (!this.#followed.has(id)) return;
    if (signal === null) this.#deps.journal.pollNow(id);
    else this.#deps.directory.receive(id, signal, atSeq);
  }
}

/**
 * Frames of another node, which its pass has authenticated. An unreadable frame ends the connection, and the next poll
 * reconnects.
 */
function onFrames(socket: WebSocket, receive: (frame: unknown) => void): void {
  socket.on("message", (data: Buffer) => {
    try {
      receive(JSON.parse(data.toString("utf8")));
    } catch (error) {
      socket.emit("error", error instanceof Error ? error : new Error(String(error)));
      socket.terminate();
    }
  });
}

/** The subscriptions of one other node. */
class Forwarder implements Disposable {
  readonly #socket: WebSocket;
  readonly #deps: Pick<NodeSignalsDeps, "directory">;
  readonly #stops = new Map<string, () => void>();
  readonly #lastSeqs = new Map<string, number>();
  readonly #stopCommits: () => void;

  constructor(socket: WebSocket, { directory, journal, publishesAppends }: NodeSignalsDeps) {
    this.#socket = socket;
    this.#deps = { directory };
    this.#stopCommits = journal.onCommit(({ type, conversationId, lastSeq }) => {
      if (type !== "appended" || !this.#stops.has(conversationId)) return;
      this.#lastSeqs.set(conversationId, lastSeq);
      if (publishesAppends) this.#publish(conversationId, null);
    });
  }

  receive({ follow, leave }: Asked): void {
    for (const id of leave) {
      this.#stops.get(id)?.();
      this.#stops.delete(id);
      this.#lastSeqs.delete(id);
    }
    for (const id of follow) {
      if (this.#stops.has(id) || this.#stops.size >= maxFollowed) continue;
      this.#stops.set(
        id,
        this.#deps.directory.forward(id, (signal) => this.#publish(id, signal)),
      );
    }
  }

  [Symbol.dispose](): void {
    this.#stopCommits();
    for (const stop of this.#stops.values()) stop();
    this.#stops.clear();
  }

  #publish(id: string, signal: ForwardedSignal | null): void {
    const limit = signal?.type === "progress" ? lowWaterBytes : highWaterBytes;
    if (this.#socket.readyState !== WebSocket.OPEN || this.#socket.bufferedAmount >= limit) return;
    const sent: NodeSignal = { id, atSeq: this.#lastSeqs.get(id) ?? null, signal };
    this.#socket.send(JSON.stringify(sent));
  }
}
