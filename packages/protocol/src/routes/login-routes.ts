import { Type, type Static } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { flag, object, orAbsent, ref } from "../schema.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

/** An address that logs one browser in, once and within minutes. The ticket is behind the `#`, so no server's log and no proxy gets it. */
export const LoginTicket = object("LoginTicket", {
  url: Type.String(),
  expires_at: Type.String({ format: "date-time" }),
});
export type LoginTicket = Static<typeof LoginTicket>;

/** Exactly one of the two. */
export const LoginRequest = object("LoginRequest", {
  ticket: orAbsent(Type.String({ maxLength: 200 })),
  key: orAbsent(Type.String({ maxLength: 1_000 })),
  /** Required to accept a ticket of another user than the one who is logged in in this browser. */
  replaces: flag(false),
});
export type LoginRequest = Static<typeof LoginRequest>;

/** One half of a login, sent in the header `X-Convoke-Proof`; the cookie of the reply is the other half. */
export const LoginReply = object("LoginReply", {
  proof: Type.String(),
  user_id: Type.String(),
  expires_at: Type.String({ format: "date-time" }),
});
export type LoginReply = Static<typeof LoginReply>;

export const LogoutRequest = object("LogoutRequest", {
  /** True: all of the caller's logins, not only that of the request. */
  everywhere: flag(false),
});
export type LogoutRequest = Static<typeof LogoutRequest>;

/** A logged-in browser. */
export const LoginEntry = object("LoginEntry", {
  id: Type.String(),
  /** The browser's user agent. */
  client: Type.String(),
  /** The browser's address when it logged in. */
  address: Type.String(),
  created_at: Type.String({ format: "date-time" }),
  /** Rounded to the minute. */
  last_used_at: Type.String({ format: "date-time" }),
  expires_at: Type.String({ format: "date-time" }),
  /** True for the login of the request. */
  is_current: Type.Boolean(),
});
export type LoginEntry = Static<typeof LoginEntry>;

export const LoginList = object("LoginList", { logins: Type.Array(ref(LoginEntry)) });
export type LoginList = Static<typeof LoginList>;

/** The end of a login that was made at an identity provider. */
export const LogoutReply = object("LogoutReply", {
  /** Where the browser logs out there too, and is sent back from to the page's login. */
  provider_url: Type.String(),
});
export type LogoutReply = Static<typeof LogoutReply>;

const none = { 409: { description: "There are no logins here.", schema: ErrorReply } } as const;

/** Our own: browsers that show this server's page. */
export const loginRoutes = routesOf("Logins", {
  createLoginTicket: {
    method: "POST",
    path: "/api/auth/tickets",
    summary: "An address that logs a browser in as the caller, once and within ten minutes",
    auth: true,
    responses: { 201: { description: "The address.", schema: LoginTicket }, ...none },
  },
  logIn: {
    method: "POST",
    path: "/api/auth/login",
    summary: "Exchange a ticket or a key for a login: a cookie, and a proof that goes with it",
    auth: false,
    body: LoginRequest,
    responses: {
      ...ok("The login. The cookie comes with the answer.", LoginReply),
      401: { description: "The ticket or the key is not good.", schema: ErrorReply },
      403: { description: "A page of another origin asks.", schema: ErrorReply },
      ...none,
      429: { description: "Too many wrong ones from this address.", schema: ErrorReply },
      ...invalid,
    },
  },
  logOut: {
    method: "POST",
    path: "/api/auth/logout",
    summary: "End the login that asks, or all of the caller's",
    auth: true,
    role: "viewer",
    inScope: true,
    body: LogoutRequest,
    isBodyOptional: true,
    responses: {
      ...ok("It is over here, and the browser is to go to the identity provider.", LogoutReply),
      204: { description: "It is over, and the browser forgets its cookie." },
      ...none,
      ...invalid,
    },
  },
  listLogins: {
    method: "GET",
    path: "/api/auth/logins",
    summary: "The browsers in which the caller is logged in, the last used first",
    auth: true,
    responses: ok("The logins.", LoginList),
  },
  endLogin: {
    method: "DELETE",
    path: "/api/auth/logins/{login_id}",
    summary: "End one of the caller's logins",
    auth: true,
    params: Type.Object({ login_id: Type.String({ pattern: "^[0-9a-f]{1,40}$" }) }),
    responses: {
      204: { description: "It is over; its sockets are closed within a second." },
      404: { description: "There is no such login.", schema: ErrorReply },
      ...invalid,
    },
  },
});
