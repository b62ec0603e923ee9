import type { NetworkPolicy, NetworkRules } from "@convoke/protocol";
import { invalidField } from "../../lib/fault.ts";
import type { Target } from "../../lib/host-name.ts";
import {
  type HostPattern,
  matchesHost,
  parseHostPattern,
  type PortsWithout,
} from "../../lib/host-pattern.ts";
import { presetHosts } from "./presets.ts";

/** What one policy says about a target. `rule` is the pattern or word that decided. */
export type PolicyVerdict =
  | {
      readonly kind: "allow";
      readonly rule: string;
      readonly isReadOnly: boolean;
      readonly mayBePrivate: boolean;
    }
  | { readonly kind: "deny"; readonly rule: string }
  | { readonly kind: "none" };

export type CompiledPolicy = (target: Target) => PolicyVerdict;

/**
 * Throws a `Fault` that names the field below `loc` when a host cannot be read. `registries` are further hosts of the preset of that
 * name; they may be on a private network.
 */
export function compilePolicy(
  policy: NetworkPolicy,
  registries: readonly string[] = [],
  loc: readonly (string | number)[] = ["network"],
): CompiledPolicy {
  if (policy === "none") return () => ({ kind: "none" });
  const own = registries.map(readListed);
  const isOwn = (target: Target): boolean => find(own, target) !== undefined;
  if (policy === "all") {
    return (target) => ({ kind: "allow", rule: "all", isReadOnly: false, mayBePrivate: isOwn(target) });
  }
  const rules = policy === "registries" ? { presets: ["registries" as const] } : policy;
  return compileRules(rules, own, isOwn, loc);
}

function compileRules(
  rules: NetworkRules,
  registries: readonly HostPattern[],
  isOwn: (target: Target) => boolean,
  loc: readonly (string | number)[],
): CompiledPolicy {
  const read = (field: "allow" | "deny" | "private" | "read_only", without: PortsWithout): HostPattern[] =>
    (rules[field] ?? []).map((text, at) => {
      const pattern = parseHostPattern(text, without);
      if (typeof pattern === "string") throw invalidField([...loc, field, at], pattern);
      return pattern;
    });
  const deny = read("deny", "any");
  const isPrivate = read("private", "web");
  const allow = read("allow", "web");
  const readOnly = read("read_only", "web");
  const presets = (rules.presets ?? []).flatMap((name) => [
    ...presetHosts[name].map(readListed),
    ...registries,
  ]);
  return (target) => {
    const denied = find(deny, target);
    if (denied !== undefined) return { kind: "deny", rule: denied.text };
    const full = find(allow, target);
    const ofPrivate = find(isPrivate, target);
    const reading = full === undefined ? find(readOnly, target) : undefined;
    const ofPreset = full === undefined && reading === undefined ? find(presets, target) : undefined;
    const listed = full ?? reading ?? ofPreset ?? ofPrivate;
    if (listed === undefined) return { kind: "none" };
    return {
      kind: "allow",
      rule: ofPreset === undefined ? listed.text : (rules.presets ?? []).join(", "),
      isReadOnly: reading !== undefined || (ofPreset !== undefined && rules.intercept !== false),
      // An address that is written out is meant, whatever network it is in.
      mayBePrivate:
        ofPrivate !== undefined || isOwn(target) || (listed.host === target.host && isAddress(listed.host)),
    };
  };
}

function find(patterns: readonly HostPattern[], target: Target): HostPattern | undefined {
  return patterns.find((pattern) => matchesHost(pattern, target));
}

function isAddress(host: string): boolean {
  return host.includes(":") || /^\d+\.\d+\.\d+\.\d+$/.test(host);
}

/** Of a list of ours, or from settings that were read before: one that is not a host is our mistake. */
function readListed(text: string): HostPattern {
  const pattern = parseHostPattern(text, "web");
  if (typeof pattern === "string") throw new TypeError(pattern);
  return pattern;
}
