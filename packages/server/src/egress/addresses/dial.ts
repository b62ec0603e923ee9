import { lookup, type LookupAddress } from "node:dns";
import { isIP, type Socket } from "node:net";
import type { EgressLimits, EgressOptions } from "../egress.ts";
import type { Target } from "../policy/host-name.ts";
import { refuseAddress, Unreachable } from "../records/refusal.ts";
import { createAddressGuard } from "./address-guard.ts";
import { openThroughProxy } from "./parent-proxy.ts";
import { connectTcp, whenConnected } from "./sockets.ts";

/** Opens a TCP connection to a target that a policy allowed. Rejects with `Refused` or `Unreachable`. */
export type Dial = (target: Target, options: { readonly mayBePrivate: boolean }) => Promise<Socket>;

type DialDeps = Pick<EgressOptions, "isOwnListener" | "resolve" | "connect" | "parentProxy">;

/**
 * Resolves the name once, checks all its addresses and connects to one of these. With a proxy of the machine, the name is checked as
 * far as it can be resolved here, and the proxy resolves it again.
 */
export function createDial(deps: DialDeps, limits: Pick<EgressLimits, "resolveMs" | "connectMs">): Dial {
  const guard = createAddressGuard(deps.isOwnListener);
  const resolve = deps.resolve ?? resolveName;
  const connect = deps.connect ?? connectAddress;
  return async (target, { mayBePrivate }) => {
    const proxy = deps.parentProxy?.(target.host, target.port) ?? null;
    const addresses = await resolveWithin(target, resolve, limits.resolveMs).catch((error: unknown) => {
      // A name that only the proxy knows.
      if (proxy !== null) return [];
      throw error;
    });
    for (const { address } of addresses) {
      const problem = guard(address, target.port, mayBePrivate);
      if (problem !== null) throw refuseAddress(target, problem);
    }
    if (proxy !== null) return await openThroughProxy(proxy, target, limits.connectMs);
    return await whenConnected(connect(addresses, target.port), target, limits.connectMs);
  };
}

async function resolveWithin(
  target: Target,
  resolve: NonNullable<DialDeps["resolve"]>,
  timeoutMs: number,
): Promise<readonly LookupAddress[]> {
  const family = isIP(target.host);
  if (family !== 0) return [{ address: target.host, family }];
  const signal = AbortSignal.timeout(timeoutMs);
  const late = Promise.withResolvers<never>();
  const onLate = (): void => late.reject(new Unreachable(target, 504, "Its name was not resolved in time."));
  signal.addEventListener("abort", onLate);
  try {
    const addresses = await Promise.race([resolve(target.host, signal), late.promise]);
    if (addresses.length === 0) throw new Unreachable(target, 502, "Its name has no address.");
    return addresses;
  } catch (error) {
    if (error instanceof Unreachable) throw error;
    throw new Unreachable(target, 502, "Its name could not be resolved.", { cause: error });
  } finally {
    signal.removeEventListener("abort", onLate);
  }
}

async function resolveName(host: string): Promise<LookupAddress[]> {
  const { promise, resolve, reject } = Promise.withResolvers<LookupAddress[]>();
  lookup(host, { all: true }, (error, addresses) => (error === null ? resolve(addresses) : reject(error)));
  return promise;
}

/** Node tries one address after the other; the name is only in its error messages. */
function connectAddress(addresses: readonly LookupAddress[], port: number): Socket {
  const [first] = addresses;
  if (addresses.length === 1) {
    return connectTcp({ host: first!.address, port });
  }
  return connectTcp({
    host: "allowed.invalid",
    port,
    autoSelectFamily: true,
    lookup: (_host, options, callback) => {
      if (options.all === true) callback(null, [...addresses]);
      else callback(null, first!.address, first!.family);
    },
  });
}
