import { defaultLimits, type EgressRecord } from "../egress.ts";
import type { ForwardContext } from "../forward/forward-context.ts";
import { UpstreamAgent } from "../forward/upstream-agent.ts";
import { EgressPolicy } from "../policy/egress-policy.ts";
import { EgressLedger } from "../records/egress-ledger.ts";
import { OpenConnections } from "../records/open-connections.ts";
import { Tunnels } from "../records/tunnels.ts";

export type OpenContext = {
  readonly context: ForwardContext;
  /** Reaches nothing. */
  readonly agent: UpstreamAgent;
  readonly records: readonly EgressRecord[];
  /** Unexpected errors. */
  readonly reported: readonly unknown[];
};

/** What a part of an egress works with: every host is allowed, and no secret is bound. */
export function openContext(): OpenContext {
  const records: EgressRecord[] = [];
  const reported: unknown[] = [];
  const ledger = new EgressLedger((record) => void records.push(record), defaultLimits.refusalWindowMs);
  const connections = new OpenConnections();
  const context: ForwardContext = {
    policy: new EgressPolicy({ policy: "all", limitedBy: [] }),
    ledger,
    tunnels: new Tunnels(ledger, connections, defaultLimits),
    connections,
    limits: defaultLimits,
    secretsFor: () => [],
    report: (error) => void reported.push(error),
  };
  const agent = new UpstreamAgent(async () => Promise.reject(new Error("There is no way out.")));
  return { context, agent, records, reported };
}
