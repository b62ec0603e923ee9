import { ConfigError } from "../lib/config-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The answer to an action that was not answered in time. */
export type ApprovalDefault = {
  readonly timeout_seconds: number;
  readonly on_timeout: "accept" | "reject";
};

/** US dollars; null when it is not set. */
export function readDayBudget(environment: Environment): number | null {
  return readAmount(environment, "CONVOKE_MAX_BUDGET_PER_USER_PER_DAY", 0, 1_000_000_000);
}

/** Null when no timeout is set: then actions wait for ever. */
export function readApprovalDefault(environment: Environment): ApprovalDefault | null {
  const seconds = readAmount(environment, "CONVOKE_APPROVAL_TIMEOUT_SECONDS", 0.001, 31_536_000);
  const answer = environment["CONVOKE_APPROVAL_ON_TIMEOUT"] || "reject";
  if (answer !== "accept" && answer !== "reject") {
    throw new ConfigError(`CONVOKE_APPROVAL_ON_TIMEOUT must be accept or reject, not "${answer}".`);
  }
  return seconds === null ? null : { timeout_seconds: seconds, on_timeout: answer };
}

function readAmount(environment: Environment, name: string, least: number, max: number): number | null {
  const text = environment[name];
  if (text === undefined || text.trim() === "") return null;
  const amount = Number(text);
  if (amount >= least && amount <= max) return amount;
  throw new ConfigError(`${name} must be a number from ${least} to ${max}, not "${text}".`);
}
