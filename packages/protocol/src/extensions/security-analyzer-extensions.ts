import { Type } from "typebox";
import type { SecurityAnalyzer } from "../security/security-analyzer.ts";
import { choice } from "../schema.ts";

type Patterns = readonly (readonly string[])[] | null;

/** Looks for signs of danger in what would be run, and of slipped-in instructions in everything the model said. Lists of `[expression, reason]` replace the built-in ones. */
export type PatternSecurityAnalyzer = {
  readonly kind: "PatternSecurityAnalyzer";
  readonly high_patterns?: Patterns;
  readonly medium_patterns?: Patterns;
  readonly injection_high_patterns?: Patterns;
  readonly injection_medium_patterns?: Patterns;
};

/** Knows the few combinations that are never harmless. */
export type PolicyRailSecurityAnalyzer = { readonly kind: "PolicyRailSecurityAnalyzer" };

/** The worst verdict of several analyzers; `propagate_unknown` makes one unknown count for all. */
export type EnsembleSecurityAnalyzer = {
  readonly kind: "EnsembleSecurityAnalyzer";
  readonly analyzers: readonly (SecurityAnalyzer | PatternSecurityAnalyzer | PolicyRailSecurityAnalyzer)[];
  readonly propagate_unknown?: boolean;
};

/** Analyzers of newer clients, beside those of the contract. */
export type SecurityAnalyzerExtension =
  | PatternSecurityAnalyzer
  | PolicyRailSecurityAnalyzer
  | EnsembleSecurityAnalyzer;

/** What tells such an analyzer from those of the contract; the server checks the rest. */
export const SecurityAnalyzerExtension = Type.Unsafe<SecurityAnalyzerExtension>(
  Type.Object({
    kind: choice(["PatternSecurityAnalyzer", "PolicyRailSecurityAnalyzer", "EnsembleSecurityAnalyzer"]),
  }),
);
