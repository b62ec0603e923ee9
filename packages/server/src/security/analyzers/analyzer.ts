import type { SecurityAnalyzer, SecurityAnalyzerExtension } from "@convoke/protocol";
import { assessByPatterns } from "./pattern.ts";
import { assessByRails } from "./policy-rail.ts";
import type { AssessedCall, Verdict } from "./verdict.ts";
import { TooSlow, withinTime } from "../../lib/time-limit.ts";

/** The security analyzers that this server supports. */
export type AnalyzerConfig = SecurityAnalyzer | SecurityAnalyzerExtension;

/** True when the verdict of this analyzer includes the model's own estimate. */
export function readsPrediction(analyzer: AnalyzerConfig | null): boolean {
  if (analyzer?.kind === "EnsembleSecurityAnalyzer") return analyzer.analyzers.some(readsPrediction);
  return analyzer?.kind === "LLMSecurityAnalyzer";
}

/** The verdict on one call: a call that only reads is LOW (L23.12); without an analyzer the risk is unknown. */
export function assessCall(analyzer: AnalyzerConfig | null, call: AssessedCall): Verdict {
  if (call.isReadOnly) return { risk: "LOW", reasons: [] };
  if (analyzer === null) return { risk: "UNKNOWN", reasons: [] };
  if (!hasOwnPatterns(analyzer) && lengthOf(call) <= shortLength) return assessBy(analyzer, call);
  try {
    return withinTime(limitMs, () => assessBy(analyzer, call));
  } catch (error) {
    // A call that cannot be judged in time does not count as harmless, and nobody else waits for it (L23.17).
    if (error instanceof TooSlow) return { risk: "HIGH", reasons: ["took too long to be judged"] };
    throw error;
  }
}

/** Users' expressions on long texts of a model could block the server's only thread for hours. */
const limitMs = 100;
/** Up to this length the built-in expressions take less time than the time limit itself. */
const shortLength = 4_000;

function hasOwnPatterns(analyzer: AnalyzerConfig): boolean {
  if (analyzer.kind === "EnsembleSecurityAnalyzer") return analyzer.analyzers.some(hasOwnPatterns);
  if (analyzer.kind !== "PatternSecurityAnalyzer") return false;
  const { high_patterns, medium_patterns, injection_high_patterns, injection_medium_patterns } = analyzer;
  return [high_patterns, medium_patterns, injection_high_patterns, injection_medium_patterns].some(
    (list) => list !== undefined && list !== null,
  );
}

function lengthOf({ action, words }: AssessedCall): number {
  return words.reduce((sum, word) => sum + word.length, JSON.stringify(action).length);
}

function assessBy(analyzer: AnalyzerConfig, call: AssessedCall): Verdict {
  switch (analyzer.kind) {
    case "LLMSecurityAnalyzer":
      return { risk: call.predictedRisk ?? "UNKNOWN", reasons: [] };
    case "PatternSecurityAnalyzer":
      return assessByPatterns(analyzer, call);
    case "PolicyRailSecurityAnalyzer":
      return assessByRails(call);
    case "EnsembleSecurityAnalyzer":
      return combine(
        analyzer.analyzers.map((member) => assessMember(member, call)),
        analyzer.propagate_unknown === true,
      );
    case "GraySwanAnalyzer":
      // Requests with an unknown analyzer are refused; a stored one must let nothing pass.
      return { risk: "HIGH", reasons: ["the analyzer is not available"] };
  }
}

/** A failed analyzer does not make an action harmless. */
function assessMember(member: AnalyzerConfig, call: AssessedCall): Verdict {
  try {
    return assessBy(member, call);
  } catch (error) {
    return { risk: "HIGH", reasons: [`${member.kind} failed: ${String(error)}`] };
  }
}

/** The highest known risk; unknown when none is known, or when one unknown risk counts for all. */
function combine(verdicts: readonly Verdict[], keepsUnknown: boolean): Verdict {
  const reasons = verdicts.flatMap((verdict) => verdict.reasons);
  const isUnknown = verdicts.some(({ risk }) => risk === "UNKNOWN");
  const worst = order.findLast((risk) => verdicts.some((verdict) => verdict.risk === risk));
  const hidesUnknown = keepsUnknown && isUnknown && worst !== "HIGH";
  return { risk: worst === undefined || hidesUnknown ? "UNKNOWN" : worst, reasons };
}

const order = ["LOW", "MEDIUM", "HIGH"] as const;
