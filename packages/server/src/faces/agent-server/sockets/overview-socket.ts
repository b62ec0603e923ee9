import type { FastifyInstance, FastifyRequest } from "fastify";
import type { SummaryFeed } from "../../../reading/summary-feed.ts";
import type { ConversationInfoSource } from "../../../engine/state/conversation-info.ts";
import { toSummary } from "../../../reading/summary.ts";
import { isOutsideScope } from "../../../security/key-scope.ts";
import type { Caller } from "../../../security/caller.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { SummaryOutput } from "./summary-output.ts";
import { mountSocket, type Admitted, type SocketTarget } from "./mount-socket.ts";
import { readWhole, refuseNearMisses, type SocketQuery } from "./socket-query.ts";
import type { SocketOutput } from "./socket-output.ts";
import type { SocketTimes } from "./socket-times.ts";

export type OverviewSocketDeps = Pick<FaceDeps, "directory" | "journal" | "keys" | "logger"> & {
  readonly feed: Pick<SummaryFeed, "listen" | "touch">;
  readonly times: SocketTimes;
};

type Target = SocketTarget & { readonly limit: number };

const usualLimit = 50;
const maxListed = 200;
/** How often to poll for conversations that another node has begun. */
const newcomersEveryMs = 5_000;
const newcomers = 20;

/**
 * `/sockets/overview`: the conversations of one user that changed last, each as a summary, then every change, at most
 * four a second for each conversation, and `Gone` for a deleted one. An archived conversation is sent once more, with
 * the mark. A slow client gets only the newest state.
 */
export function mountOverviewSocket(app: FastifyInstance, deps: OverviewSocketDeps): void {
  mountSocket<Target>(app, {
    path: "/sockets/overview",
    name: "overview socket",
    logger: deps.logger,
    times: deps.times,
    readTarget: (request) => ({ keys: deps.keys, limit: readLimit(request) }),
    scope: "filtered",
    serve: (admitted) => serve(admitted, deps),
  });
}

function readLimit(request: FastifyRequest): number {
  const query = request.query as SocketQuery;
  refuseNearMisses(query, ["limit"]);
  return readWhole(query, "limit", { minimum: 1, maximum: maxListed }) ?? usualLimit;
}

async function serve(
  { target, caller, frames, output }: Admitted<Target>,
  deps: OverviewSocketDeps,
): Promise<void> {
  using overview = new Overview(caller, output, deps);
  await overview.begin(target.limit);
  // Input frames are ignored.
  while ((await frames.next()) !== null);
}

/** The state that one client has been sent. */
class Overview implements Disposable {
  readonly #caller: Caller;
  readonly #deps: OverviewSocketDeps;
  readonly #summaries: SummaryOutput;
  readonly #output: SocketOutput;
  readonly #stopFeed: () => void;
  readonly #newcomers: NodeJS.Timeout;
  /** The sent version of each conversation, and how to unsubscribe from its changes at other nodes. */
  readonly #published = new Map<string, { version: number; readonly stop: () => void }>();

  constructor(caller: Caller, output: SocketOutput, deps: OverviewSocketDeps) {
    this.#caller = caller;
    this.#deps = deps;
    this.#output = output;
    this.#summaries = new SummaryOutput(output);
    this.#stopFeed = deps.feed.listen({
      userId: caller.userId,
      onSummary: (id, json, version) => this.#give(id, json, version),
      onGone: (id) => this.#drop(id),
    });
    this.#newcomers = setInterval(() => void this.#findNewcomers(), newcomersEveryMs).unref();
  }

  async begin(limit: number): Promise<void> {
    const { items } = await this.#deps.directory.summaries(this.#caller, { limit, isArchived: false });
    for (const described of items) this.#publish(described);
    this.#summaries.give("", JSON.stringify({ kind: "Listed", ids: items.map(({ id }) => id) }));
  }

  [Symbol.dispose](): void {
    this.#stopFeed();
    clearInterval(this.#newcomers);
    this.#summaries[Symbol.dispose]();
    for (const { stop } of this.#published.values()) stop();
    this.#published.clear();
  }

  #publish(described: ConversationInfoSource): void {
    this.#give(described.id, JSON.stringify(toSummary(described)), described.state.lastSeq);
  }

  #give(id: string, json: string, version: number): void {
    if (this.#output.closed.aborted || isOutsideScope(this.#caller, id)) return;
    const known = this.#published.get(id);
    // Changes are sent already while the first list is read.
    if (known !== undefined && version < known.version) return;
    if (known === undefined) {
      const { feed, journal } = this.#deps;
      this.#published.set(id, { version, stop: journal.onAppend(id, () => feed.touch(id)) });
    } else known.version = version;
    this.#summaries.give(id, json);
  }

  /** `Gone` is sent only for conversations that the client knows: others may belong to another user. */
  #drop(id: string): void {
    const known = this.#published.get(id);
    if (known === undefined) return;
    known.stop();
    this.#published.delete(id);
    this.#summaries.give(id, JSON.stringify({ kind: "Gone", id }));
  }

  async #findNewcomers(): Promise<void> {
    try {
      const { items } = await this.#deps.directory.summaries(this.#caller, {
        limit: newcomers,
        isArchived: false,
      });
      const isNews = ({ id, state }: ConversationInfoSource): boolean =>
        state.lastSeq > (this.#published.get(id)?.version ?? -1);
      for (const described of items.filter(isNews)) this.#publish(described);
    } catch (error) {
      // The next poll, or a change at this node, sends it.
      this.#deps.logger.warn({ error: String(error) }, "overview could not be read");
    }
  }
}
