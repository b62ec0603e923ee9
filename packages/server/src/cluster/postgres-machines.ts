import type { NamedLease } from "./named-leases.ts";
import { describeError } from "../lib/describe-error.ts";
import type { Logger } from "../lib/logger.ts";
import type { Machines } from "./machines.ts";
import { PostgresLeases } from "./postgres-leases.ts";
import type { PostgresNode } from "./postgres-node.ts";

const prefix = "machine ";
const againMs = 1000;

/** The node that serves a machine holds a lease with the machine's name. */
export class PostgresMachines implements Machines {
  readonly own: string;
  readonly #node: PostgresNode;
  readonly #leases: PostgresLeases;
  readonly #logger: Logger;

  constructor(node: PostgresNode, own: string, logger: Logger) {
    this.#node = node;
    this.own = own;
    this.#leases = new PostgresLeases(node);
    this.#logger = logger;
  }

  async serve(): Promise<AsyncDisposable | null> {
    const first = await this.#leases.take(prefix + this.own);
    return first === null ? null : new Serving(first, this.#takeAgain, this.#node, this.#logger);
  }

  async served(): Promise<ReadonlyMap<string, string>> {
    const { rows } = await this.#node.pool.query<{ machine: string; nodeId: string }>(servedSql, [prefix]);
    return new Map(rows.map(({ machine, nodeId }) => [machine, nodeId]));
  }

  readonly #takeAgain = (): Promise<NamedLease | null> => this.#leases.take(prefix + this.own);
}

/** Takes the lease again after fencing: what runs on the machine is still here, whatever id the node has. */
class Serving implements AsyncDisposable {
  #lease: NamedLease;
  #timer: NodeJS.Timeout | undefined;
  #taking: Promise<void> = Promise.resolve();
  #isClosed = false;
  readonly #take: () => Promise<NamedLease | null>;
  readonly #logger: Logger;
  readonly #stop: () => void;

  constructor(lease: NamedLease, take: () => Promise<NamedLease | null>, node: PostgresNode, logger: Logger) {
    this.#lease = lease;
    this.#take = take;
    this.#logger = logger;
    this.#stop = node.heartbeat.onFenced(() => this.#takeAgain());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    clearTimeout(this.#timer);
    await this.#taking;
    await this.#lease[Symbol.asyncDispose]();
  }

  #takeAgain(): void {
    clearTimeout(this.#timer);
    this.#taking = this.#taking.then(() => this.#tryToTake());
  }

  /** Never rejects. Until it succeeds, the machine is unavailable to the other nodes. */
  async #tryToTake(): Promise<void> {
    if (this.#isClosed) return;
    try {
      const taken = await this.#take();
      if (taken !== null) {
        this.#lease = taken;
        return;
      }
      this.#logger.error({}, "another server serves this data folder's machine; was the folder copied?");
    } catch (error) {
      this.#logger.warn({ error: describeError(error) }, "this machine cannot be served yet");
    }
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#takeAgain(), againMs).unref();
  }
}

const servedSql = `
  SELECT substr(l.name, length($1::text) + 1) AS machine, l.node_id AS "nodeId"
  FROM convoke.named_leases l JOIN convoke.nodes n ON n.id = l.node_id AND n.dead_at IS NULL AND n.address IS NOT NULL
  WHERE starts_with(l.name, $1::text)`;
