import { readFile } from "node:fs/promises";
import { RetentionPolicy } from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import { ConfigError } from "../lib/config-error.ts";
import { describeError } from "../lib/describe-error.ts";
import { hasCondition } from "../retention/find-matches.ts";

/** The policy of the file that `CONVOKE_RETENTION` names; null without it. Rejects with {@link ConfigError} on any mistake. */
export async function readServerRetention(
  path: string | null,
  validator: Validator,
): Promise<RetentionPolicy | null> {
  if (path === null) return null;
  const refuse = (why: string, cause?: unknown): never => {
    throw new ConfigError(`The retention policy in ${path} (CONVOKE_RETENTION) cannot be used: ${why}`, {
      cause,
    });
  };
  const text = await readFile(path, "utf8").catch((cause: unknown) => refuse(describeError(cause), cause));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    refuse(`it is not JSON (${describeError(error)})`, error);
  }
  const checked = validator.check<RetentionPolicy>(RetentionPolicy, value);
  if (!checked.ok) return refuse(checked.errors.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; "));
  const without = checked.value.rules.find((rule) => !hasCondition(rule));
  if (without !== undefined) refuse(`the rule ${without.name} has no condition, so it would fit everything`);
  return checked.value;
}
