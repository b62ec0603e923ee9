import { hash } from "node:crypto";
import type { oidcRoutes } from "@convoke/protocol";
import type { FastifyRequest } from "fastify";
import type { RouteReply, Handlers } from "../../http/mount.ts";
import { readCookies } from "../../http/read-cookie.ts";
import { Fault } from "../../lib/fault.ts";
import { LoginRefused } from "../../oidc/login-refused.ts";
import { loginStateMs } from "../../settings/login-states.ts";
import type { FaceDeps } from "../face-deps.ts";

const path = "/api/auth/oidc";

/** Logins at the identity provider: to it, and back with a ticket, which the page exchanges like any other. */
export function oidcHandlers({ oidc, clientAddress, logger }: FaceDeps) {
  const requireOidc = (): NonNullable<typeof oidc> => {
    if (oidc !== null) return oidc;
    throw new Fault("missing", "no_oidc", "No identity provider is configured. Log in with a key.");
  };
  const refuse = (request: FastifyRequest, error: unknown): RouteReply => {
    if (!(error instanceof LoginRefused)) throw error;
    const { code, subject, message } = error;
    request.isRefused = true;
    request.auditNote = { oidc: { refused: code, ...(subject === null ? {} : { subject }) } };
    const isProviders = code === "unreachable" || code === "invalid_answer";
    logger[isProviders ? "warn" : "info"]({ code, reason: message }, "a login was refused");
    return redirect(toPage(request, { e: code }));
  };
  return {
    listLoginMethods() {
      return { headers: noStore, json: { oidc: oidc === null ? null : { name: oidc.name } } };
    },
    async beginOidcLogin({ request, query }) {
      const logins = requireOidc();
      try {
        const { url, state, browserSecret } = await logins.begin({
          redirectUri: `${request.publicAddress}${path}/callback`,
          returnTo: readPath(query.return_to),
          address: clientAddress(request),
        });
        return redirect(url.href, toCookie(request, state, browserSecret));
      } catch (error) {
        return refuse(request, error);
      }
    },
    async finishOidcLogin({ request }) {
      const logins = requireOidc();
      const { searchParams } = new URL(request.url, "http://server");
      const state = searchParams.get("state") ?? "";
      const secrets = readCookies(request.headers.cookie, cookieName(state));
      try {
        const done = await logins.finish(searchParams, secrets);
        const { userId, role, issuer, subject, isNew, ticket, returnTo } = done;
        request.caller = { userId, role, means: "oidc" };
        request.auditNote = { oidc: { issuer, subject, role, is_new: isNew } };
        return redirect(toPage(request, { t: ticket, to: returnTo }), toCookie(request, state, null));
      } catch (error) {
        return refuse(request, error);
      }
    },
  } satisfies Handlers<typeof oidcRoutes>;
}

/** Addresses here hold codes and tickets, so no other site is sent one as a referrer. */
const noStore = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

function redirect(location: string, cookie?: string): RouteReply {
  const cookies = cookie === undefined ? {} : { "set-cookie": cookie };
  return { status: 302, headers: { ...noStore, location, ...cookies }, text: "" };
}

/** The page's login. What is behind the `#` reaches no server and no proxy. */
function toPage({ publicAddress }: FastifyRequest, fragment: Readonly<Record<string, string>>): string {
  return `${publicAddress}/login#${new URLSearchParams(fragment).toString()}`;
}

/** A path on the page; `/` for everything else, such as the address of another site. */
function readPath(given: string | null | undefined): string {
  const isPath = typeof given === "string" && /^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(given);
  return isPath ? given : "/";
}

/** Each login has its own cookie, so that tabs do not disturb each other. */
function cookieName(state: string): string {
  return `convoke_oidc_${hash("sha256", state).slice(0, 16)}`;
}

/** Lax: the browser must send it when the provider sends it back. Null removes it. */
function toCookie({ publicAddress }: FastifyRequest, state: string, secret: string | null): string {
  const { protocol, pathname } = new URL(publicAddress);
  const secure = protocol === "https:" ? "; Secure" : "";
  const place = `Path=${pathname.replace(/\/$/, "")}${path}; HttpOnly; SameSite=Lax${secure}`;
  const seconds = secret === null ? 0 : loginStateMs / 1000;
  return `${cookieName(state)}=${secret ?? ""}; Max-Age=${seconds}; ${place}`;
}
