import type { LookupAddress } from "node:dns";
import type { Socket } from "node:net";
import type { EgressLimits, EgressOptions } from "../egress.ts";
import type { EgressPolicy } from "../policy/egress-policy.ts";
import type { Target } from "../../lib/host-name.ts";
import { decide, decideAddress } from "../records/decide.ts";
import type { OpenConnections } from "../records/open-connections.ts";
import { refuseAddress, Unreachable } from "../records/refusal.ts";
import { createAddressGuard } from "./address-guard.ts";
import { DialSlots } from "./dial-slots.ts";
import { isLocalName } from "./local-name.ts";
import { Lookups } from "./lookups.ts";
import { openThroughProxy } from "./parent-proxy.ts";
import { connectTcp, whenConnected } from "./sockets.ts";

/**
 * Opens a TCP connection to a target, when the policies allow that before and after. Later it ends as soon as they do not. Rejects with
 * `Refused` or `Unreachable`, or with the reason of the signal.
 */
export type Dial = (target: Target, signal: AbortSignal) => Promise<Socket>;

export type DialDeps = Pick<EgressOptions, "isOwnListener" | "resolve" | "connect" | "parentProxy"> & {
  readonly policy: EgressPolicy;
  readonly connections: OpenConnections;
  readonly limits: EgressLimits;
};

/**
 * Resolves the name once, checks all its addresses and connects to one of these. With a proxy of the machine, the name is checked as
 * far as it can be resolved here, and the proxy resolves it again; one that is unknown here and belongs to a local network is refused.
 */
export function createDial(deps: DialDeps): Dial {
  const { policy, connections, limits } = deps;
  const guard = createAddressGuard(deps.isOwnListener);
  const lookups = new Lookups(deps.resolve, limits);
  const slots = new DialSlots(limits);
  const connect = deps.connect ?? connectAddress;

  function check(target: Target, addresses: readonly LookupAddress[]): void {
    const { mayBePrivate } = decide(policy, target);
    if (addresses.length === 0 && !mayBePrivate && isLocalName(target.host))
      throw refuseAddress(target, "private-address");
    for (const { address } of addresses) {
      const problem = guard(address, target.port, mayBePrivate);
      if (problem !== null) throw refuseAddress(target, problem);
      decideAddress(policy, target, address);
    }
  }

  return async (target, signal) => {
    // A query for a name carries data: not before the name is allowed.
    decide(policy, target);
    using _slot = slots.take(target);
    const proxy = deps.parentProxy?.(target.host, target.port) ?? null;
    const addresses = await lookups.addressesOf(target, signal).catch((error: unknown) => {
      // A name that only the proxy knows.
      if (proxy !== null && error instanceof Unreachable) return [];
      throw error;
    });
    check(target, addresses);
    const wait = { target, timeoutMs: limits.connectMs, signal };
    const socket =
      proxy === null
        ? await whenConnected(connect(addresses, target.port), wait)
        : await openThroughProxy(proxy, wait);
    try {
      check(target, addresses);
    } catch (error) {
      socket.destroy();
      throw error;
    }
    connections.add(socket, () => check(target, addresses));
    return socket;
  };
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
