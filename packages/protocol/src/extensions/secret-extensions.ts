import { Type, type Static } from "typebox";
import { choice, orAbsent } from "../schema.ts";

/** Where the value of a bound secret is put into a request: in any header, in name and password of HTTP Basic, in the query, in the body. */
export const SecretPlace = choice(["header", "basic", "query", "body"]);
export type SecretPlace = Static<typeof SecretPlace>;

/** Fields that bind a secret to hosts. Replies have them for bound secrets only. */
export const secretBindingFields = {
  hosts: orAbsent(
    Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
      maxItems: 50,
      description:
        "The only hosts that get the value, such as `api.example.com` or `*.example.com:8443`. Tools see a placeholder, and the wall's proxy puts the value into requests over TLS. In a change, absent keeps the hosts and null unbinds the secret.",
    }),
  ),
  as: orAbsent(
    Type.Union([SecretPlace, Type.Array(SecretPlace, { minItems: 1, maxItems: 4 })], {
      description: "Where it is put in; header and basic when absent.",
    }),
  ),
  shape: orAbsent(
    Type.String({
      pattern: "^[A-Za-z0-9_.-]{1,16}$",
      description: "How the placeholder begins, for programs that look at it, such as `ghp_`.",
    }),
  ),
};

/** How a secret is bound, as requests and replies have it. */
export type SecretBindingFields = {
  readonly hosts?: readonly string[] | null;
  readonly as?: SecretPlace | readonly SecretPlace[] | null;
  readonly shape?: string | null;
};
