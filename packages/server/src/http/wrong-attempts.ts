import { hash } from "node:crypto";
import type { ProcessGroup } from "../cluster/process-group.ts";

const windowMs = 60_000;
const maxWrong = 5;
const maxAddresses = 10_000;

type Attempt = { readonly address: string; readonly mark: string };

/**
 * Counts failed attempts by address: after five different ones within a minute the address waits until the first is a
 * minute old. A client that repeats what has ended is not guessing, so it counts once. Processes behind one port share
 * the counts, so another process gives no further attempts.
 */
export class WrongAttempts implements Disposable {
  readonly #nowMs: () => number;
  readonly #group: ProcessGroup | undefined;
  readonly #topic: string;
  readonly #stop: () => void;
  /** By address, the one with the latest failure last: the times of what was tried, by its mark. */
  readonly #tried = new Map<string, ReadonlyMap<string, number>>();
  #limitsUntilMs = Number.NEGATIVE_INFINITY;

  /** `topic` names what is counted: other counts of the same processes are apart. */
  constructor(nowMs: () => number, group?: ProcessGroup, topic = "wrong attempt") {
    this.#nowMs = nowMs;
    this.#group = group;
    this.#topic = topic;
    this.#stop = group?.subscribe(topic, (attempt) => this.#count(attempt as Attempt)) ?? (() => {});
  }

  /** True while an address may have to wait. */
  get isLimiting(): boolean {
    return this.#nowMs() < this.#limitsUntilMs;
  }

  /** How long attempts from this address are refused, in milliseconds; 0 when it may try. */
  waitMs(address: string): number {
    const times = [...this.#recent(address).values()].toSorted((one, other) => one - other);
    return times.length < maxWrong ? 0 : times.at(-maxWrong)! + windowMs - this.#nowMs();
  }

  /** Counts a failure with this key or ticket, of which only a digest is kept. */
  note(address: string, tried: string): void {
    const attempt = { address, mark: hash("sha256", tried).slice(0, 16) };
    this.#count(attempt);
    this.#group?.publish({ topic: this.#topic, body: attempt });
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  #count({ address, mark }: Attempt): void {
    const recent = this.#recent(address);
    if (recent.size >= maxWrong && !recent.has(mark)) return;
    const tried = new Map([...recent, [mark, recent.get(mark) ?? this.#nowMs()]]);
    if (tried.size >= maxWrong) this.#limitsUntilMs = this.#nowMs() + windowMs;
    this.#tried.delete(address);
    this.#tried.set(address, tried);
    const [oldest] = this.#tried.keys();
    if (this.#tried.size > maxAddresses && oldest !== undefined) this.#tried.delete(oldest);
  }

  #recent(address: string): ReadonlyMap<string, number> {
    const sinceMs = this.#nowMs() - windowMs;
    return new Map([...(this.#tried.get(address) ?? [])].filter(([, atMs]) => atMs > sinceMs));
  }
}
