import type { NetworkPolicy } from "@convoke/protocol";
import { invalidField } from "../../lib/fault.ts";
import { type CompiledPolicy, compilePolicy } from "./compiled-policy.ts";
import type { Target } from "../../lib/host-name.ts";
import { parseHostPattern } from "../../lib/host-pattern.ts";

/** Whose policy it is, as a refusal names it. */
export type PolicySource = "server" | "user" | "project" | "conversation";

/** The policies of one wall. What all of them allow passes; each may deny. */
export type EgressPolicies = {
  /** The conversation's own; grants widen it. */
  readonly policy: NetworkPolicy;
  /** Those that bound it, such as the server's and the user's: no grant goes beyond them. */
  readonly limitedBy: readonly { readonly source: PolicySource; readonly policy: NetworkPolicy }[];
  /**
   * Further hosts of the preset `registries`, such as those that a person's own settings name, never files of a working folder: they may
   * be on a private network.
   */
  readonly registries?: readonly string[];
};

export type Verdict =
  | {
      readonly isAllowed: true;
      /** The conversation's rule. */
      readonly rule: string;
      /** Only requests that read, see `read-only.ts`. */
      readonly isReadOnly: boolean;
      readonly mayBePrivate: boolean;
    }
  | {
      readonly isAllowed: false;
      readonly reason: "no-rule" | "denied";
      readonly source: PolicySource;
      readonly rule: string | null;
    };

/** All policies of a wall as one, with the grants of the conversation. */
export class EgressPolicy {
  #limits: readonly { readonly source: PolicySource; readonly decide: CompiledPolicy }[] = [];
  #own: CompiledPolicy = () => ({ kind: "none" });
  readonly #grants = new Map<string, CompiledPolicy>();

  constructor(policies: EgressPolicies) {
    this.set(policies);
  }

  /** Replaces the policies; grants stay. Throws a `Fault` that names the field, and then changes nothing. */
  set({ policy, limitedBy, registries = [] }: EgressPolicies): void {
    const own = compilePolicy(policy, registries);
    const limits = limitedBy.map(({ source, policy }) => ({
      source,
      decide: compilePolicy(policy, registries, [source, "network"]),
    }));
    this.#own = own;
    this.#limits = limits;
  }

  /** Lets the conversation reach hosts, written as in `allow`, as far as the other policies do. */
  grant(hosts: readonly string[]): void {
    const compiled = hosts.map((host, at) => {
      const problem = parseHostPattern(host, "web");
      if (typeof problem === "string") throw invalidField(["hosts", at], problem);
      return [host, compilePolicy({ allow: [host] })] as const;
    });
    for (const [host, decide] of compiled) this.#grants.set(host, decide);
  }

  /** Ends the grants for these hosts. */
  revoke(hosts: readonly string[]): void {
    for (const host of hosts) this.#grants.delete(host);
  }

  decide(target: Target): Verdict {
    const own = this.#decideOwn(target);
    const limits = this.#limits.map(({ source, decide }) => ({ source, verdict: decide(target) }));
    const all = [{ source: "conversation" as const, verdict: own }, ...limits];
    for (const { source, verdict } of all) {
      if (verdict.kind === "deny") return { isAllowed: false, reason: "denied", source, rule: verdict.rule };
    }
    // The widest bound first: what a grant cannot change is what must be known.
    for (const { source, verdict } of all.toReversed()) {
      if (verdict.kind === "none") return { isAllowed: false, reason: "no-rule", source, rule: null };
    }
    const allowed = all.map(({ verdict }) => verdict).filter((verdict) => verdict.kind === "allow");
    return {
      isAllowed: true,
      rule: allowed[0]!.rule,
      isReadOnly: allowed.some(({ isReadOnly }) => isReadOnly),
      mayBePrivate: allowed.every(({ mayBePrivate }) => mayBePrivate),
    };
  }

  #decideOwn(target: Target): ReturnType<CompiledPolicy> {
    const own = this.#own(target);
    if (own.kind === "deny" || (own.kind === "allow" && !own.isReadOnly)) return own;
    for (const decide of this.#grants.values()) {
      const granted = decide(target);
      if (granted.kind === "allow") return { ...granted, rule: `granted: ${granted.rule}` };
    }
    return own;
  }
}
