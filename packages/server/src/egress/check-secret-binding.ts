import type { SecretBindingFields, SecretPlace } from "@convoke/protocol";
import { invalidField } from "../lib/fault.ts";
import { withoutUndefined } from "../lib/without-undefined.ts";
import { headerProblem } from "../lib/header-problem.ts";
import { parseHostPattern } from "../lib/host-pattern.ts";

/** Shorter values are not found in answers that repeat them. */
export const minBoundValueChars = 8;
const placesWithout: readonly SecretPlace[] = ["header", "basic"];

/** Where a value is put into requests. */
export function secretPlaces({ as }: SecretBindingFields): readonly SecretPlace[] {
  if (as === undefined || as === null) return placesWithout;
  return typeof as === "string" ? [as] : as;
}

/** True for a secret whose value tools must not get. */
export function isBound({ hosts }: SecretBindingFields): boolean {
  return hosts !== undefined && hosts !== null;
}

/**
 * A secret that replaces a stored one. It keeps the hosts of that unless it names others or null: a client that knows no hosts may send a
 * new value, and that must not reach the tools.
 */
export function keepBinding<Secret extends SecretBindingFields>(
  secret: Secret,
  stored: SecretBindingFields | undefined,
): Secret {
  if (secret.hosts !== undefined || stored === undefined || !isBound(stored)) return secret;
  const { hosts, as, shape } = stored;
  return { ...secret, ...withoutUndefined({ hosts, as: secret.as ?? as, shape: secret.shape ?? shape }) };
}

/**
 * Refuses a binding that could not work, or would not bind. `value` is null where it is not known yet. Throws a `Fault` with the field
 * below `loc` and what to send instead.
 */
export function checkSecretBinding(
  name: string,
  binding: SecretBindingFields,
  value: string | null,
  loc: readonly string[],
): void {
  const { hosts } = binding;
  if (hosts === undefined || hosts === null) return refuseWithoutHosts(binding, loc);
  if (hosts.length === 0)
    throw invalidField(
      [...loc, "hosts"],
      "Name the hosts that may get this secret, or leave hosts out to hand its value to the tools.",
    );
  for (const [at, host] of hosts.entries()) {
    const problem = hostProblem(host);
    if (problem !== null) throw invalidField([...loc, "hosts", at], problem);
  }
  if (isOfAws(name, hosts, value))
    throw invalidField(
      [...loc, "hosts"],
      "AWS requests are signed with the secret, so a placeholder cannot be replaced on the way. Use a token that is sent as it is, or leave hosts out.",
    );
  if (value === null || value === "") return;
  if (value.trim().length < minBoundValueChars)
    throw invalidField(
      [...loc, "value"],
      `A secret that is bound to hosts has at least ${minBoundValueChars} characters: a shorter one is not found in answers that repeat it.`,
    );
  const problem = secretPlaces(binding).includes("header") ? headerProblem("Authorization", value) : null;
  if (problem !== null)
    throw invalidField(
      [...loc, "value"],
      `A header cannot carry this value: with it, the header ${problem}. Send "as": "body" if it belongs into bodies.`,
    );
}

function refuseWithoutHosts(binding: SecretBindingFields, loc: readonly string[]): void {
  // Null hosts unbind a secret, and the rest may be sent along as it was read.
  if (binding.hosts === null) return;
  for (const field of ["as", "shape"] as const)
    if (binding[field] !== undefined && binding[field] !== null)
      throw invalidField(
        [...loc, field],
        `"${field}" is for secrets that are bound to hosts. Send hosts as well, or leave it out.`,
      );
}

function hostProblem(host: string): string | null {
  const pattern = parseHostPattern(host, "web");
  if (typeof pattern === "string") return pattern;
  if (pattern.covers === "everything")
    return `"${host}" is every host, which binds to none. Name the hosts that need the secret.`;
  if (pattern.covers === "names-below" && !pattern.host.includes("."))
    return `"${host}" is a whole top-level domain. Name a domain below it, such as *.example.com.`;
  if (pattern.ports !== "any" && pattern.ports.size === 1 && pattern.ports.has(80))
    return "Port 80 is plain HTTP, and secrets are put in over TLS only. Leave the port out, or name that of TLS.";
  return null;
}

/** The forms that tell: a secret access key by itself looks like any other token. */
function isOfAws(name: string, hosts: readonly string[], value: string | null): boolean {
  return (
    /^AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|SECURITY_TOKEN)$/i.test(name) ||
    /^(AKIA|ASIA)[A-Z0-9]{16}$/.test(value ?? "") ||
    hosts.some((host) => /(^|\.)(amazonaws\.com(\.cn)?|api\.aws)(:|$)/i.test(host))
  );
}
