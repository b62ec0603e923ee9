import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { EgressLimits, EgressRecord } from "../egress.ts";
import type { Target } from "../../lib/host-name.ts";
import type { EgressLedger } from "./egress-ledger.ts";
import type { OpenConnections } from "./open-connections.ts";

export type TunnelFacts = {
  readonly target: Target;
  readonly rule: string;
  /** Of a websocket: its path, and the names of secrets in its request. */
  readonly path: string | null;
  readonly secrets: readonly string[];
  /** Throws `Refused` when the policies do not allow it any more. */
  readonly check: () => void;
};

/** Copies bytes of tunnels, and reports these at their end. */
export class Tunnels {
  readonly #ledger: EgressLedger;
  readonly #limits: EgressLimits;
  readonly #connections: OpenConnections;

  constructor(ledger: EgressLedger, connections: OpenConnections, limits: EgressLimits) {
    this.#ledger = ledger;
    this.#connections = connections;
    this.#limits = limits;
  }

  /** Copies bytes both ways until both sides have ended, and owns both streams from now on. */
  join(client: Duplex, upstream: Socket, facts: TunnelFacts): void {
    const { target } = facts;
    const startedAt = Date.now();
    let sentBytes = 0;
    let receivedBytes = 0;
    const destroy = (): void => void (client.destroy(), upstream.destroy());
    this.#connections.add(client, facts.check);
    client.on("data", (bytes: Buffer) => {
      sentBytes += bytes.length;
      this.#ledger.sent(target, bytes.length);
    });
    upstream.on("data", (bytes: Buffer) => {
      receivedBytes += bytes.length;
      this.#ledger.received(target, bytes.length);
    });
    for (const side of [client, upstream]) {
      side.on("error", destroy);
      side.once("end", () => void upstream.setTimeout(this.#limits.halfClosedMs));
    }
    upstream.setTimeout(this.#limits.idleMs, destroy).setKeepAlive(true, 60_000);
    client.once("close", () => {
      upstream.destroy();
      const record: EgressRecord = {
        kind: "tunnel",
        at: startedAt,
        durationMs: Date.now() - startedAt,
        ...target,
        rule: facts.rule,
        path: facts.path,
        secrets: facts.secrets,
        sentBytes,
        receivedBytes,
      };
      this.#ledger.record(record);
    });
    upstream.once("close", () => {
      // What it still sent is in the client's buffer; a client that reads none of it is given up.
      if (!client.writableEnded) client.destroy();
      else setTimeout(() => client.destroy(), this.#limits.halfClosedMs).unref();
    });
    client.pipe(upstream);
    upstream.pipe(client);
  }
}
