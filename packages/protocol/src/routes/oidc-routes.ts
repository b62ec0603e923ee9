import { Type, type Static } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { choice, object, orAbsent, ref } from "../schema.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** An identity provider at which people log in. */
export const OidcProvider = object("OidcProvider", {
  /** What people call it. */
  name: Type.String(),
});
export type OidcProvider = Static<typeof OidcProvider>;

/** Ways to log in besides a ticket and a key. */
export const LoginMethods = object("LoginMethods", {
  /** Null: there is none. */
  oidc: Type.Union([ref(OidcProvider), Type.Null()]),
});
export type LoginMethods = Static<typeof LoginMethods>;

/**
 * Why a login at the identity provider did not succeed, in the order of what happens: too many wait; the provider does
 * not answer; it is late, used, or of another browser; the person declined; the answer is not valid; the e-mail is not
 * verified, or of another domain; no value has a role; the user is disabled.
 */
export const OidcRefusal = choice([
  "busy",
  "unreachable",
  "expired",
  "declined",
  "invalid_answer",
  "unverified_email",
  "wrong_domain",
  "no_role",
  "disabled",
]);
export type OidcRefusal = Static<typeof OidcRefusal>;

const none = { 404: { description: "No identity provider is configured.", schema: ErrorReply } } as const;

/** Our own: logins at an identity provider (OpenID Connect). Both steps are for browsers, which follow the redirects. */
export const oidcRoutes = routesOf("Logins", {
  listLoginMethods: {
    method: "GET",
    path: "/api/auth/methods",
    summary: "The ways to log in to the page besides a ticket and a key",
    auth: false,
    responses: ok("The ways.", LoginMethods),
  },
  beginOidcLogin: {
    method: "GET",
    path: "/api/auth/oidc",
    summary: "Send the browser to the identity provider",
    auth: false,
    query: Type.Object({
      /** The path on the page to go to afterwards, such as `/c/ID`. What is no such path is `/`. */
      return_to: orAbsent(Type.String({ maxLength: 2_000 })),
    }),
    responses: {
      302: {
        description: "To the provider; or to the page's login with `#e=` and the reason for a refusal.",
      },
      ...none,
      ...invalid,
    },
  },
  finishOidcLogin: {
    method: "GET",
    path: "/api/auth/oidc/callback",
    summary: "Where the identity provider sends the browser back to",
    auth: false,
    responses: {
      302: {
        description: "To the page's login, with `#t=` and a ticket, or `#e=` and the reason for a refusal.",
      },
      ...none,
    },
  },
});
