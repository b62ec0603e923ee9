import type { ProcessGroup } from "../cluster/process-group.ts";

const windowMs = 60_000;
const maxWrong = 5;
const maxAddresses = 10_000;
const topic = "wrong attempt";

/**
 * Counts failed attempts by address: after five within a minute the address waits until the first is a minute old.
 * Processes behind one port share the counts, so another process gives no further attempts.
 */
export class WrongAttempts implements Disposable {
  readonly #nowMs: () => number;
  readonly #group: ProcessGroup | undefined;
  readonly #stop: () => void;
  readonly #timesByAddress = new Map<string, number[]>();

  constructor(nowMs: () => number, group?: ProcessGroup) {
    this.#nowMs = nowMs;
    this.#group = group;
    this.#stop = group?.subscribe(topic, (address) => this.#count(address as string)) ?? (() => {});
  }

  /** How long attempts from this address are refused, in milliseconds; 0 when it may try. */
  waitMs(address: string): number {
    const times = this.#recent(address);
    return times.length < maxWrong ? 0 : times[0]! + windowMs - this.#nowMs();
  }

  note(address: string): void {
    this.#count(address);
    this.#group?.publish({ topic, body: address });
  }

  [Symbol.dispose](): void {
    this.#stop();
  }

  #count(address: string): void {
    const times = [...this.#recent(address), this.#nowMs()];
    // The address with the latest failure comes last.
    this.#timesByAddress.delete(address);
    this.#timesByAddress.set(address, times);
    const [oldest] = this.#timesByAddress.keys();
    if (this.#timesByAddress.size > maxAddresses && oldest !== undefined) this.#timesByAddress.delete(oldest);
  }

  #recent(address: string): number[] {
    const sinceMs = this.#nowMs() - windowMs;
    return (this.#timesByAddress.get(address) ?? []).filter((time) => time > sinceMs);
  }
}
