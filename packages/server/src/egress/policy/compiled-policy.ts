import type { NetworkPolicy, NetworkRules } from "@convoke/protocol";
import { invalidField } from "../../lib/fault.ts";
import type { Target } from "./host-name.ts";
import { type HostPattern, matchesHost, parseHostPattern, type PortsWithout } from "./host-pattern.ts";
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
 * name, such as a person's own settings name.
 */
export function compilePolicy(
  policy: NetworkPolicy,
  registries: readonly string[] = [],
  loc: readonly (string | number)[] = ["network"],
): CompiledPolicy {
  if (policy === "none") return () => ({ kind: "none" });
  if (policy === "all") {
    return () => ({ kind: "allow", rule: "all", isReadOnly: false, mayBePrivate: false });
  }
  return compileRules(policy === "registries" ? { presets: ["registries"] } : policy, registries, loc);
}

function compileRules(
  rules: NetworkRules,
  registries: readonly string[],
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
  const presets = (rules.presets ?? []).flatMap((name) =>
    [...presetHosts[name], ...registries].map((host) => readListed(host)),
  );
  const find = (patterns: readonly HostPattern[], target: Target): HostPattern | undefined =>
    patterns.find((pattern) => matchesHost(pattern, target));
  return (target) => {
    const denied = find(deny, target);
    if (denied !== undefined) return { kind: "deny", rule: denied.text };
    const ofPrivate = find(isPrivate, target);
    const full = ofPrivate ?? find(allow, target);
    const listed = full ?? find(readOnly, target) ?? find(presets, target);
    if (listed === undefined) return { kind: "none" };
    const isPreset = full === undefined && !readOnly.includes(listed);
    return {
      kind: "allow",
      rule: isPreset ? (rules.presets ?? []).join(", ") : listed.text,
      isReadOnly: full === undefined && (!isPreset || rules.intercept !== false),
      // An address that is written out is meant, whatever network it is in.
      mayBePrivate: ofPrivate !== undefined || (listed.host === target.host && isAddress(listed.host)),
    };
  };
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
