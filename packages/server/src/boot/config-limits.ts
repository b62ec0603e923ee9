import { ConfigError } from "../lib/config-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Who answers instead of a person, in conversations that do not say otherwise; see `ApprovalPolicy`. */
export type ApprovalDefault = {
  readonly timeout_seconds?: number;
  readonly on_timeout?: "accept" | "reject";
  readonly reviewer?: { readonly llm: string; readonly up_to: "LOW" | "MEDIUM" | "HIGH" };
};

/** US dollars; null when it is not set. */
export function readDayBudget(environment: Environment): number | null {
  return readAmount(environment, "CONVOKE_MAX_BUDGET_PER_USER_PER_DAY", 0, 1_000_000_000);
}

/** Null when nothing is set: then actions wait for a person, for ever. */
export function readApprovalDefault(environment: Environment): ApprovalDefault | null {
  const seconds = readAmount(environment, "CONVOKE_APPROVAL_TIMEOUT_SECONDS", 0.001, 31_536_000);
  const answer = environment["CONVOKE_APPROVAL_ON_TIMEOUT"] || "reject";
  if (answer !== "accept" && answer !== "reject") {
    throw new ConfigError(`CONVOKE_APPROVAL_ON_TIMEOUT must be accept or reject, not "${answer}".`);
  }
  const reviewer = readReviewer(environment);
  if (seconds === null && reviewer === null) return null;
  return {
    ...(seconds === null ? {} : { timeout_seconds: seconds, on_timeout: answer }),
    ...(reviewer === null ? {} : { reviewer }),
  };
}

/** Null when none is named: it is off. */
function readReviewer(environment: Environment): NonNullable<ApprovalDefault["reviewer"]> | null {
  const llm = environment["CONVOKE_APPROVAL_REVIEWER"]?.trim() ?? "";
  const upTo = environment["CONVOKE_APPROVAL_REVIEWER_UP_TO"] || "MEDIUM";
  if (upTo !== "LOW" && upTo !== "MEDIUM" && upTo !== "HIGH")
    throw new ConfigError(`CONVOKE_APPROVAL_REVIEWER_UP_TO must be LOW, MEDIUM or HIGH, not "${upTo}".`);
  return llm === "" ? null : { llm, up_to: upTo };
}

function readAmount(environment: Environment, name: string, least: number, max: number): number | null {
  const text = environment[name];
  if (text === undefined || text.trim() === "") return null;
  const amount = Number(text);
  if (amount >= least && amount <= max) return amount;
  throw new ConfigError(`${name} must be a number from ${least} to ${max}, not "${text}".`);
}
