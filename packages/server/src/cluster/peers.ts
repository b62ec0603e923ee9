import { createHmac, timingSafeEqual } from "node:crypto";
import { Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import type { Cluster, NodeAddress } from "./cluster.ts";
import { wait } from "../lib/wait.ts";
import type { Caller } from "../security/caller.ts";

export type PeersDeps = {
  readonly cluster: Cluster;
  /** The interval between two probes of another node, and the timeout of one; 1 and 3 seconds by default. */
  readonly times?: { readonly pollMs: number; readonly probeMs: number };
};

/** The signed claim that one node has authenticated a caller of the request that it forwards to another. */
type Pass = {
  readonly to: string;
  readonly method: string;
  readonly path: string;
  readonly atMs: number;
  readonly caller: Caller;
};

export type Way = { readonly target: URL; readonly headers: Readonly<Record<string, string>> };

export type NodeCall = {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or a form as it arrives; undefined for a request without a body. */
  readonly body: string | Readable | undefined;
};

/** Reaches the other nodes of a store. Nodes trust the callers that another node has authenticated. */
export class Peers {
  readonly #deps: PeersDeps;
  /** The last probe of each node, shared by all who wait for it. */
  readonly #probes = new Map<string, { readonly atMs: number; readonly answer: Promise<boolean> }>();
  readonly #callers = new WeakMap<FastifyRequest, Caller | null>();

  constructor(deps: PeersDeps) {
    this.#deps = deps;
  }

  /** How long a request waits for an owning node that does not answer. */
  get ownerTimeoutMs(): number {
    return this.#deps.cluster.ownerTimeoutMs;
  }

  /** The caller for whom another node sends this request; null for a request that does not come from a node. */
  callerOf(request: FastifyRequest): Caller | null {
    const pass = request.headers[passHeader];
    if (typeof pass !== "string") return null;
    const known = this.#callers.get(request);
    if (known !== undefined) return known;
    const caller = this.#check(pass, request);
    this.#callers.set(request, caller);
    request.isForwarded = caller !== null;
    return caller;
  }

  /**
   * Sends a request to another node. Null when no such node exists or its process has ended; rejects when the
   * connection breaks.
   */
  async ask(
    nodeId: string,
    { method, path, headers, body }: NodeCall,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<Response | null> {
    const way = await this.findWay(nodeId, method, path, caller);
    if (way === null) return null;
    using gone = this.untilGone(nodeId);
    try {
      return await fetch(way.target, {
        method,
        headers: { ...headers, "accept-encoding": "identity", ...way.headers },
        ...(body === undefined
          ? {}
          : { body: typeof body === "string" ? body : streamOf(body), duplex: "half" }),
        redirect: "manual",
        signal: AbortSignal.any([signal, gone.signal]),
      });
    } catch (error) {
      if (isRefused(error)) return null;
      throw error;
    }
  }

  /** The URL and the pass for a request to another node; null when no such node exists. */
  async findWay(nodeId: string, method: string, path: string, caller: Caller): Promise<Way | null> {
    const nodeAddress = await this.#deps.cluster.findAddress(nodeId);
    if (nodeAddress === null) return null;
    const target = new URL(path, nodeAddress.url);
    const pass: Pass = { to: nodeId, method, path: pathOf(target), atMs: this.#deps.cluster.nowMs(), caller };
    return { target, headers: { [passHeader]: seal(pass, nodeAddress.secret) } };
  }

  /**
   * Aborts when a node is declared dead before it has answered (a stalled process keeps its connections open), or when
   * a living node answers no probe: the network between the two may be broken.
   */
  untilGone(nodeId: string): Disposable & { readonly signal: AbortSignal } {
    const gone = new AbortController();
    const over = new AbortController();
    void this.#watch(nodeId, gone, over.signal);
    return { signal: gone.signal, [Symbol.dispose]: () => over.abort() };
  }

  /** Never rejects. */
  async #watch(nodeId: string, gone: AbortController, over: AbortSignal): Promise<void> {
    for (let silences = 0; silences < maxSilences;) {
      await wait(this.#times.pollMs, over);
      if (over.aborted) return;
      // Without the store it is unknown whether the node is dead.
      const nodeAddress = await this.#deps.cluster.findAddress(nodeId).catch(() => undefined);
      if (nodeAddress === null) break;
      if (nodeAddress !== undefined) silences = (await this.#probe(nodeAddress)) ? 0 : silences + 1;
    }
    if (!over.aborted) gone.abort();
  }

  get #times(): { readonly pollMs: number; readonly probeMs: number } {
    return this.#deps.times ?? { pollMs: 1000, probeMs: 3000 };
  }

  #probe({ url }: NodeAddress): Promise<boolean> {
    const known = this.#probes.get(url);
    const nowMs = performance.now();
    if (known !== undefined && nowMs - known.atMs < this.#times.pollMs) return known.answer;
    const answer = answers(url, this.#times.probeMs);
    this.#probes.set(url, { atMs: nowMs, answer });
    return answer;
  }

  #check(given: string, request: FastifyRequest): Caller | null {
    const [payload = "", mark = ""] = given.split(".");
    const { nodeId, ownSecret } = this.#deps.cluster;
    const wanted = markOf(payload, ownSecret);
    const found = Buffer.from(mark, "base64url");
    if (found.length !== wanted.length || !timingSafeEqual(found, wanted)) return null;
    const pass = JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as Pass;
    const isMeant = pass.to === nodeId && pass.method === request.method;
    const isFresh = Math.abs(this.#deps.cluster.nowMs() - pass.atMs) <= ttlMs;
    return isMeant && isFresh && pass.path === request.raw.url ? pass.caller : null;
  }
}

const passHeader = "x-convoke-node";

const ttlMs = 30_000;
/** After this many unanswered probes in a row a node counts as unreachable. */
const maxSilences = 3;

function seal(pass: Pass, secret: string): string {
  const payload = Buffer.from(JSON.stringify(pass)).toString("base64url");
  return `${payload}.${markOf(payload, secret).toString("base64url")}`;
}

function markOf(payload: string, secret: string): Buffer {
  return createHmac("sha256", secret).update(payload).digest();
}

function pathOf({ pathname, search }: URL): string {
  return pathname + search;
}

/** The types of Node's and the web's streams do not match. */
function streamOf(body: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(body) as ReadableStream<Uint8Array>;
}

/** Any answer proves that the node is there. */
async function answers(url: string, withinMs: number): Promise<boolean> {
  try {
    const response = await fetch(new URL("/alive", url), { signal: AbortSignal.timeout(withinMs) });
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
}

/** True when nothing of a request was sent. */
function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
  return cause?.code === "ECONNREFUSED";
}
