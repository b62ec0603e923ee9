import { randomBytes } from "node:crypto";
import { previousSecretMs } from "./decision.ts";

/** The sealed text of an automation's secrets. */
type SealedSecrets = {
  readonly secret: string;
  readonly previous?: { readonly secret: string; readonly untilMs: number };
};

/** Of a form that every sender takes: Standard Webhooks and GitLab want the prefix and base64 of 24 to 64 bytes. */
export function newHookSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

/** The text to be sealed when a secret takes the place of `before`, the text until now; null: there was none. */
export function withSecret(secret: string, before: string | null, nowMs: number): string {
  const replaced = before === null ? null : (JSON.parse(before) as SealedSecrets);
  const secrets: SealedSecrets =
    replaced === null || replaced.secret === secret
      ? { ...replaced, secret }
      : { secret, previous: { secret: replaced.secret, untilMs: nowMs + previousSecretMs } };
  return JSON.stringify(secrets);
}

/** Those that are valid, the newest first. */
export function secretsIn(text: string, nowMs: number): readonly string[] {
  const { secret, previous } = JSON.parse(text) as SealedSecrets;
  return previous === undefined || previous.untilMs <= nowMs ? [secret] : [secret, previous.secret];
}
