import type { NetworkPolicy } from "@convoke/protocol";

/** What is reachable from inside, in a few words. */
export function describeNetwork(network: NetworkPolicy): string {
  if (network === "none") return "no network";
  if (network === "all") return "network: public hosts";
  if (network === "registries") return "network: package registries and code hosts, to read";
  const hosts = [...(network.presets ?? []), ...(network.allow ?? []), ...(network.read_only ?? [])];
  const more = hosts.length > 5 ? `, and ${hosts.length - 5} more` : "";
  return `network: ${hosts.slice(0, 5).join(", ") || "nothing"}${more}`;
}
