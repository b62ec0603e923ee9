import type { EgressLimits } from "../egress.ts";
import { formatTarget, type Target } from "../../lib/host-name.ts";
import { Refused } from "../records/refusal.ts";

type SlotLimits = Pick<EgressLimits, "maxDials" | "maxDialsAtHost">;

/** Bounds the connections of a wall that are being opened at the same time. */
export class DialSlots {
  readonly #limits: SlotLimits;
  readonly #atHost = new Map<string, number>();
  #total = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Throws `Refused` when all are taken; disposing the slot frees it. */
  take(target: Target): Disposable {
    const name = formatTarget(target);
    const atHost = this.#atHost.get(name) ?? 0;
    const { maxDials, maxDialsAtHost } = this.#limits;
    if (atHost >= maxDialsAtHost || this.#total >= maxDials) {
      const [count, where] = atHost >= maxDialsAtHost ? [maxDialsAtHost, " to it"] : [maxDials, ""];
      throw new Refused(
        target,
        "too-many-connections",
        `This wall opens ${count} connections${where} at this moment, which is the maximum.`,
      );
    }
    this.#add(name, 1);
    return { [Symbol.dispose]: () => this.#add(name, -1) };
  }

  #add(name: string, change: number): void {
    this.#total += change;
    const count = (this.#atHost.get(name) ?? 0) + change;
    if (count === 0) this.#atHost.delete(name);
    else this.#atHost.set(name, count);
  }
}
