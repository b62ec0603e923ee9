import { networkInterfaces } from "node:os";
import type { Policy } from "../settings/policy-store.ts";
import type { BoundSecretRegistry } from "../egress/bound-secret-registry.ts";
import type { OnEgress } from "./open-observability.ts";

/** For what has ways out through this server. */
export type SharedWithWays = {
  /** The port at which this server listens; null before it does. */
  readonly ownPort: () => number | null;
  readonly onEgress: OnEgress;
  /** Of the conversations in this process. */
  readonly boundSecrets: BoundSecretRegistry;
  /** What a user may have at most. */
  readonly policyOf: (userId: string) => Policy;
};

/** Says whether this server listens at an address and port; `ownPort` is null before it does. */
export function ownListener(ownPort: () => number | null): (address: string, port: number) => boolean {
  return (address, port) => port === ownPort() && isOwnAddress(address);
}

function isOwnAddress(address: string): boolean {
  if (/^(127\.|::1$|0\.0\.0\.0$|::$)/.test(address)) return true;
  return Object.values(networkInterfaces()).some(
    (all) => all?.some((one) => one.address === address) === true,
  );
}
