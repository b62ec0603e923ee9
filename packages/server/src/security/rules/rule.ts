import { isDeepStrictEqual } from "node:util";
import { maxRules, type Action, type Rule, type SecurityRisk } from "@convoke/protocol";
import type { AllowRule } from "../allow-rules.ts";

/** Whose rules: the server's operator, the user, the project's repository, or one conversation. */
export type RuleSource = "server" | "user" | "project" | "conversation";

/** A rule in either form; the older one names `tool_name` and only allows. */
export type AnyRule = Rule | AllowRule;

/** A rule with its place, so that a decision can name it. `index` counts from 0. */
export type SourcedRule = { readonly source: RuleSource; readonly index: number; readonly rule: AnyRule };

/** The rule that decided about a call. */
export type RuleDecision = SourcedRule & { readonly effect: Rule["effect"] };

/** The folders that relative paths and `~` in rules and calls stand for; absolute. `home`: null if there is none. */
export type RulePlaces = { readonly workingDir: string; readonly home: string | null };

/** A call that rules may decide about. */
export type RuledCall = {
  readonly toolName: string;
  readonly action: Action;
  readonly risk: SecurityRisk;
  readonly places: RulePlaces;
};

export function isOlderForm(rule: AnyRule): rule is AllowRule {
  return "tool_name" in rule;
}

/** Rules of one source with their positions. */
export function rulesFrom(source: RuleSource, rules: readonly AnyRule[]): SourcedRule[] {
  return rules.map((rule, index) => ({ source, index, rule }));
}

/** With those rules added that are not there yet; the order of a rule's fields does not count. */
export function addRules<Item>(stored: readonly Item[], added: readonly Item[]): readonly Item[] {
  return added.reduce<readonly Item[]>(
    (all, rule) => (all.some((known) => isDeepStrictEqual(known, rule)) ? all : [...all, rule]),
    stored,
  );
}

/** What to tell a caller that wants more rules than one source may have; null while there is room. */
export function roomProblem(rules: readonly unknown[]): string | null {
  if (rules.length <= maxRules) return null;
  return `There may be ${maxRules} rules in one place, and with this answer there would be ${rules.length}. Remove some, or answer once.`;
}

/** What a call gives to its tool. */
export function argumentsOf(action: Action): Readonly<Record<string, unknown>> {
  return action.kind === "MCPToolAction" ? (action.data ?? {}) : action;
}
