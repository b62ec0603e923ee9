import type { NetworkPolicy } from "@convoke/protocol";
import type { SandboxSpec } from "../sandboxes/sandbox.ts";

/**
 * The network of a spec as backends make it; null for a policy that they cannot hold: they know no hosts, only whether there is a network.
 * With `all` addresses of private networks are in reach as well.
 */
export function launchNetworkOf(policy: NetworkPolicy): SandboxSpec["network"] | null {
  if (policy === "none") return "none";
  return policy === "all" ? "on" : null;
}
