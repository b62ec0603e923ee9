import type { Target } from "../../lib/host-name.ts";
import type { EgressLedger } from "../records/egress-ledger.ts";
import type { PreparedRequest } from "./prepare-request.ts";

const maxPathChars = 1_000;
const maxMethodChars = 50;

/** Counts one request and reports it at its end. A refused one is not reported here. */
export class RequestRecord {
  readonly method: string;
  /** Without the query, and bounded, as whatever the record has of a client. */
  readonly path: string;
  status: number | null = null;
  readonly #ledger: EgressLedger;
  readonly #target: Target;
  readonly #startedAt = Date.now();
  #prepared: PreparedRequest | null = null;
  #sentBytes = 0;
  #receivedBytes = 0;

  constructor(ledger: EgressLedger, target: Target, method: string, path: string) {
    this.#ledger = ledger;
    this.#target = target;
    this.path = path.replace(/[?#].*$/s, "").slice(0, maxPathChars);
    this.method = method.slice(0, maxMethodChars);
  }

  begin(prepared: PreparedRequest): void {
    this.#prepared = prepared;
    this.#ledger.begin(this.#target);
  }

  sent(bytes: number): void {
    this.#sentBytes += bytes;
    this.#ledger.sent(this.#target, bytes);
  }

  received(bytes: number): void {
    this.#receivedBytes += bytes;
    this.#ledger.received(this.#target, bytes);
  }

  end(): void {
    if (this.#prepared === null) return;
    this.#ledger.record({
      kind: "request",
      at: this.#startedAt,
      durationMs: Date.now() - this.#startedAt,
      ...this.#target,
      rule: this.#prepared.allowed.rule,
      method: this.method,
      path: this.path,
      status: this.status,
      secrets: this.#prepared.secrets,
      sentBytes: this.#sentBytes,
      receivedBytes: this.#receivedBytes,
    });
  }
}
