import type { BoundSecret, EgressLimits } from "../egress.ts";
import type { EgressPolicy } from "../policy/egress-policy.ts";
import type { Target } from "../../lib/host-name.ts";
import type { EgressLedger } from "../records/egress-ledger.ts";
import type { OpenConnections } from "../records/open-connections.ts";
import type { Tunnels } from "../records/tunnels.ts";
import type { UpstreamAgent } from "./upstream-agent.ts";

/** What all connections of a wall share. */
export type ForwardContext = {
  readonly policy: EgressPolicy;
  readonly ledger: EgressLedger;
  readonly tunnels: Tunnels;
  readonly connections: OpenConnections;
  readonly limits: EgressLimits;
  /** Those that are bound to a target. */
  readonly secretsFor: (target: Target) => readonly BoundSecret[];
  /** Reports an error, unless it is what other machines do. */
  readonly report: (error: unknown, message: string) => void;
};

/** Where a request leads, whatever its headers say. */
export type Origin = {
  readonly target: Target;
  /** TLS at both ends. */
  readonly isSecure: boolean;
  readonly agent: UpstreamAgent;
};
