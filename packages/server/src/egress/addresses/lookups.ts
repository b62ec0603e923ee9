import { lookup, type LookupAddress } from "node:dns";
import { isIP } from "node:net";
import type { EgressLimits, EgressOptions } from "../egress.ts";
import type { Target } from "../../lib/host-name.ts";
import { Refused, Unreachable } from "../records/refusal.ts";
import { orAborted } from "../../lib/or-aborted.ts";

type LookupLimits = Pick<EgressLimits, "maxLookups" | "resolveMs">;

/** Resolves names of one wall. Those that ask for the same name at the same time share one lookup. */
export class Lookups {
  readonly #resolve: NonNullable<EgressOptions["resolve"]>;
  readonly #limits: LookupLimits;
  /** Until the system answered: it goes on after its callers gave up, and holds a thread of the process. */
  readonly #running = new Map<string, Promise<readonly LookupAddress[]>>();

  constructor(resolve: EgressOptions["resolve"], limits: LookupLimits) {
    this.#resolve = resolve ?? resolveName;
    this.#limits = limits;
  }

  /** At least one address. Rejects with `Refused`, `Unreachable` or the signal's reason. */
  async addressesOf(target: Target, signal: AbortSignal): Promise<readonly LookupAddress[]> {
    const family = isIP(target.host);
    if (family !== 0) return [{ address: target.host, family }];
    const late = AbortSignal.timeout(this.#limits.resolveMs);
    try {
      const addresses = await orAborted(this.#resolveShared(target), AbortSignal.any([signal, late]));
      if (addresses.length === 0) throw new Unreachable(target, 502, "Its name has no address.");
      return addresses;
    } catch (error) {
      if (signal.aborted || error instanceof Unreachable || error instanceof Refused) throw error;
      if (late.aborted) throw new Unreachable(target, 504, "Its name was not resolved in time.");
      throw new Unreachable(target, 502, "Its name could not be resolved.", { cause: error });
    }
  }

  async #resolveShared(target: Target): Promise<readonly LookupAddress[]> {
    const { host } = target;
    const known = this.#running.get(host);
    if (known !== undefined) return known;
    const { maxLookups, resolveMs } = this.#limits;
    if (this.#running.size >= maxLookups)
      throw new Refused(
        target,
        "too-many-connections",
        `This wall waits for ${maxLookups} names to be resolved, which is the maximum.`,
      );
    const running = this.#resolve(host, AbortSignal.timeout(resolveMs)).finally(() =>
      this.#running.delete(host),
    );
    this.#running.set(host, running);
    return running;
  }
}

async function resolveName(host: string): Promise<LookupAddress[]> {
  const { promise, resolve, reject } = Promise.withResolvers<LookupAddress[]>();
  lookup(host, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)));
  return promise;
}
