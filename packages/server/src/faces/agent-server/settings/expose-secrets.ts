import type { RouteReply, RouteRequest } from "../../../http/mount.ts";
import { secretMask, type ShownAs } from "../../../settings/secret-fields.ts";
import { requireRole } from "../../../security/roles.ts";
import type { SealedValues } from "../../../settings/sealed-values.ts";

/**
 * The form of secrets that the header `X-Expose-Secrets` requests: masked without it, sealed for `encrypted` (or
 * `true`), plain for `plaintext`. Null for anything else. Callers see only their own secrets, whatever the header says, and viewers none: for them it throws a Fault.
 */
export function readExposure(
  { headers, caller }: RouteRequest,
  sealedValues: SealedValues,
): { readonly shownAs: ShownAs; readonly isExposed: boolean } | null {
  const wanted = headers["x-expose-secrets"];
  if (wanted === undefined) return { shownAs: secretMask, isExposed: false };
  requireRole(caller, "member");
  if (wanted === "encrypted" || wanted === "true") {
    return { shownAs: (secret) => sealedValues.seal(caller.userId, secret), isExposed: true };
  }
  return wanted === "plaintext" ? { shownAs: (secret) => secret, isExposed: true } : null;
}

export const badExposure: RouteReply = {
  status: 400,
  json: { detail: "X-Expose-Secrets is encrypted or plaintext, or left out.", code: "bad_request" },
};
