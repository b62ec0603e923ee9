import type { UserRole } from "@convoke/protocol";
import { isAtLeast } from "../security/roles.ts";
import type { PersonAtLogin } from "../settings/identity-store.ts";
import type { ProvenClaims } from "./identity-provider.ts";
import { LoginRefused } from "./login-refused.ts";
import type { OidcSettings } from "./oidc-settings.ts";

/** Who the person is here, and what they may do. Throws {@link LoginRefused} for who is not let in. */
export function admit(claims: ProvenClaims, settings: OidcSettings): PersonAtLogin {
  const { iss: issuer, sub: subject } = claims;
  const email = verifiedEmail(claims);
  if (settings.domains.length > 0) {
    if (email === null)
      throw new LoginRefused("unverified_email", "The provider verified no e-mail.", { subject });
    if (!settings.domains.includes(email.slice(email.lastIndexOf("@") + 1)))
      throw new LoginRefused("wrong_domain", "The e-mail is of no domain that is let in.", { subject });
  }
  const role = greatest(["*", ...valuesOf(claims, settings.claim)], settings.roles);
  if (role === null)
    throw new LoginRefused("no_role", `No value of ${settings.claim} has a role.`, { subject });
  return { issuer, subject, role, name: email };
}

/** In lower case. Some providers write the flag as a text. */
function verifiedEmail({ email, email_verified: isVerified }: ProvenClaims): string | null {
  if (typeof email !== "string" || !(isVerified === true || isVerified === "true")) return null;
  const plain = email.toLowerCase();
  return /^[^@\s]+@[^@\s]+$/.test(plain) ? plain : null;
}

/** The texts of a claim, which is a text or a list; a name with dots in it wins over a path. */
function valuesOf(claims: ProvenClaims, claim: string): string[] {
  const direct = ownValue(claims, claim);
  const found = direct ?? claim.split(".").reduce<unknown>(ownValue, claims);
  const values = Array.isArray(found) ? (found as unknown[]) : [found];
  return values.filter((value) => typeof value === "string");
}

function ownValue(value: unknown, name: string): unknown {
  const isObject = typeof value === "object" && value !== null && Object.hasOwn(value, name);
  return isObject ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

function greatest(values: readonly string[], roles: ReadonlyMap<string, UserRole>): UserRole | null {
  return values
    .flatMap((value) => roles.get(value) ?? [])
    .reduce<UserRole | null>((one, other) => (one !== null && isAtLeast(one, other) ? one : other), null);
}
