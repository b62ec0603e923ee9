import { Type } from "typebox";
import type { SecurityAnalyzer } from "../security/security-analyzer.ts";
import { choice } from "../schema.ts";

type Patterns = readonly (readonly string[])[] | null;

/** Searches commands for danger, and model output for injected instructions. `[expression, reason]` lists replace the built-in ones. */
export type PatternSecurityAnalyzer = {
  readonly kind: "PatternSecurityAnalyzer";
  readonly high_patterns?: Patterns;
  readonly medium_patterns?: Patterns;
  readonly injection_high_patterns?: Patterns;
  readonly injection_medium_patterns?: Patterns;
};

/** Detects the few combinations that are never harmless. */
export type PolicyRailSecurityAnalyzer = { readonly kind: "PolicyRailSecurityAnalyzer" };

/** The worst verdict of several analyzers; with `propagate_unknown`, one unknown makes the result unknown. */
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

/** Discriminates these analyzers from those of the contract; the server checks the rest. */
export const SecurityAnalyzerExtension = Type.Unsafe<SecurityAnalyzerExtension>(
  Type.Object({
    kind: choice(["PatternSecurityAnalyzer", "PolicyRailSecurityAnalyzer", "EnsembleSecurityAnalyzer"]),
  }),
);
