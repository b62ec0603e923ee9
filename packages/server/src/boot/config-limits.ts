import { read, type Environment } from "./setting.ts";
import { settings } from "./settings.ts";

/** Who answers instead of a person, in conversations that do not say otherwise; see `ApprovalPolicy`. */
export type ApprovalDefault = {
  readonly timeout_seconds?: number;
  readonly on_timeout?: "accept" | "reject";
  readonly reviewer?: { readonly llm: string; readonly up_to: "LOW" | "MEDIUM" | "HIGH" };
};

/** Null when nothing is set: then actions wait for a person, for ever. */
export function readApprovalDefault(environment: Environment): ApprovalDefault | null {
  const seconds = read(environment, settings.approval_timeout_seconds);
  const answer = read(environment, settings.approval_on_timeout);
  const reviewer = readReviewer(environment);
  if (seconds === null && reviewer === null) return null;
  return {
    ...(seconds === null ? {} : { timeout_seconds: seconds, on_timeout: answer }),
    ...(reviewer === null ? {} : { reviewer }),
  };
}

/** Null when none is named: it is off. */
function readReviewer(environment: Environment): NonNullable<ApprovalDefault["reviewer"]> | null {
  const llm = read(environment, settings.approval_reviewer)?.trim() ?? "";
  const upTo = read(environment, settings.approval_reviewer_up_to);
  return llm === "" ? null : { llm, up_to: upTo };
}
