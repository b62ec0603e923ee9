import type { NetworkPolicy, NetworkRules } from "@convoke/protocol";
import { parseHostPattern } from "../../lib/host-pattern.ts";

/**
 * A conversation's policy with the hosts of its secrets: they may be read, and written to by requests that carry a secret. A policy that
 * closes the network stays as it is.
 */
export function withBoundHosts(
  policy: NetworkPolicy,
  secrets: readonly { readonly hosts: readonly string[] }[],
): NetworkPolicy {
  const hosts = [...new Set(secrets.flatMap((secret) => secret.hosts))].filter(
    // As for the secret itself, one that cannot be read is none.
    (host) => typeof parseHostPattern(host, "web") !== "string",
  );
  if (hosts.length === 0 || policy === "none" || policy === "all") return policy;
  const rules: NetworkRules = policy === "registries" ? { presets: ["registries"] } : policy;
  return { ...rules, read_only: [...(rules.read_only ?? []), ...hosts] };
}
