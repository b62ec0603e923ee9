import { Fault, invalidField } from "../../lib/fault.ts";
import type { AnalyzerConfig } from "./analyzer.ts";
import { isObject } from "../../lib/json-object.ts";

const maxMembers = 10;
const maxPatterns = 200;
const patternFields = [
  "high_patterns",
  "medium_patterns",
  "injection_high_patterns",
  "injection_medium_patterns",
];
/** The fields of each analyzer besides its kind. */
const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  LLMSecurityAnalyzer: [],
  PatternSecurityAnalyzer: patternFields,
  PolicyRailSecurityAnalyzer: [],
  EnsembleSecurityAnalyzer: ["analyzers", "propagate_unknown"],
};

/** Checks an analyzer in a request. An unsupported one is refused, because users rely on it (P55). */
export function checkAnalyzer(analyzer: unknown, loc: readonly string[]): AnalyzerConfig | null {
  if (analyzer === null || analyzer === undefined) return null;
  const kind = isObject(analyzer) ? analyzer["kind"] : undefined;
  if (!isObject(analyzer) || typeof kind !== "string" || !Object.hasOwn(fieldsOf, kind)) {
    const msg = `The analyzer ${String(kind)} is not supported by this version of the server. Supported: ${Object.keys(fieldsOf).join(", ")}.`;
    throw new Fault("caller", "not_supported", msg, [{ loc: [...loc], msg, type: "not_supported" }]);
  }
  refuseUnknown(analyzer, kind, loc);
  if (kind === "PatternSecurityAnalyzer") checkPatterns(analyzer, loc);
  if (kind === "EnsembleSecurityAnalyzer") checkMembers(analyzer, loc);
  return analyzer as AnalyzerConfig;
}

/** A misspelled field would leave an analyzer that finds less than intended. */
function refuseUnknown(analyzer: Record<string, unknown>, kind: string, loc: readonly string[]): void {
  const fields = ["kind", ...fieldsOf[kind]!];
  const field = Object.keys(analyzer).find((name) => !fields.includes(name));
  if (field === undefined) return;
  const msg = `Remove this field: ${kind} knows ${fields.join(", ")}.`;
  throw invalidField([...loc, field], msg, "extra_forbidden");
}

function checkMembers(analyzer: Record<string, unknown>, loc: readonly string[]): void {
  const { analyzers: members, propagate_unknown: propagate = false } = analyzer;
  if (typeof propagate !== "boolean")
    throw invalidField([...loc, "propagate_unknown"], "Send true or false.");
  if (!Array.isArray(members) || members.length === 0 || members.length > maxMembers) {
    throw invalidField([...loc, "analyzers"], `A list of 1 to ${maxMembers} analyzers.`);
  }
  members.forEach((member: unknown, index) => {
    if (isObject(member) && member["kind"] === "EnsembleSecurityAnalyzer") {
      throw invalidField([...loc, "analyzers", String(index)], "An ensemble cannot be part of an ensemble.");
    }
    if (checkAnalyzer(member, [...loc, "analyzers", String(index)]) === null) {
      throw invalidField([...loc, "analyzers", String(index)], "An analyzer, not null.");
    }
  });
}

/** Expressions run on the server's only thread, so those with exponential time are refused. */
function checkPatterns(analyzer: Record<string, unknown>, loc: readonly string[]): void {
  for (const field of patternFields) {
    const list = analyzer[field] ?? [];
    if (!Array.isArray(list) || list.length > maxPatterns) {
      throw invalidField([...loc, field], `A list of at most ${maxPatterns} pairs of expression and reason.`);
    }
    for (const [index, item] of list.entries()) {
      const [expression] = Array.isArray(item) ? (item as unknown[]) : [];
      if (typeof expression !== "string" || !isUsable(expression)) {
        throw invalidField(
          [...loc, field, String(index)],
          `A pair of an expression without nested repetition, of at most ${longestExpression} characters, and a reason.`,
        );
      }
    }
  }
}

const longestExpression = 500;

function isUsable(expression: string): boolean {
  // The length is checked first: the checks after it take more than linear time.
  if (expression.length > longestExpression || nestsRepetition(expression)) return false;
  try {
    return new RegExp(expression, "i").source !== "";
  } catch {
    // The text is not an expression, which is the answer.
    return false;
  }
}

/** A repeated group that holds a repetition or a choice itself. */
function nestsRepetition(expression: string): boolean {
  if (/[+*}]\)?\s*(?:\)[+*]|\)\{)/.test(expression)) return true;
  const segments = expression.split(")");
  return segments.some((segment, index) => {
    const start = segment.indexOf("(");
    return start !== -1 && /[+*|]/.test(segment.slice(start)) && /^[+*{]/.test(segments[index + 1] ?? "");
  });
}
