import type { LoginEntry, LoginRequest, LogoutReply, loginRoutes } from "@convoke/protocol";
import type { FastifyRequest } from "fastify";
import { tooManyAttempts } from "../../http/attempt-limit.ts";
import { keyOfHeaders } from "../../http/auth.ts";
import type { Caller } from "../../security/caller.ts";
import {
  loginCookieName,
  loginCookiePlace,
  loginCookies,
  refuseForeignPage,
} from "../../http/login-halves.ts";
import type { RouteReply, Handlers } from "../../http/mount.ts";
import { notStored } from "../../http/route-reply.ts";
import { Fault, invalidField } from "../../lib/fault.ts";
import { isoOf } from "../../lib/instant.ts";
import { requireUnscoped } from "../../security/key-scope.ts";
import { requireRole } from "../../security/roles.ts";
import { markOfKey, type LoginStore, type LoginOwner, type LoginView } from "../../settings/login-store.ts";
import type { FaceDeps } from "../face-deps.ts";

/** A cookie lasts as long as browsers allow; after its login ends it is worthless. */
const cookieSeconds = 400 * 86_400;

/** Logins of browsers that show this server's page. A login is a cookie and a proof; keys are never returned. */
export function loginHandlers({ keys, logins, oidc, attempts, clientAddress }: FaceDeps) {
  const requireKeys = (): void => {
    if (!keys.isOpen) return;
    throw new Fault("conflict", "no_logins", "This server needs no key, so there is nothing to log in to.");
  };
  return {
    async createLoginTicket({ caller, request }) {
      requireKeys();
      const { ticket, endsAtMs } = await logins.createTicket(ownerOf(caller, request, logins));
      const url = `${request.publicAddress}/login#t=${ticket}`;
      return { status: 201, headers: notStored, json: { url, expires_at: isoOf(endsAtMs) } };
    },
    async logIn({ body, request }) {
      requireKeys();
      refuseForeignPage(request);
      const address = clientAddress(request);
      const waitMs = attempts.waitMs(address);
      if (waitMs > 0) {
        request.isRefused = true;
        throw tooManyAttempts(waitMs);
      }
      await refuseOther(body, request, logins);
      const owner = await redeem(body, { keys, logins });
      if (owner === null) {
        request.isRefused = true;
        attempts.note(address, body.ticket || body.key || "");
        throw new Fault("stranger", "wrong_login", wrongLogin);
      }
      const client = request.headers["user-agent"] ?? "";
      const { id, cookie, proof, endsAtMs } = await logins.create(owner, { client, address });
      request.caller = { userId: owner.userId, keyId: owner.keyId, loginId: id, means: "login" };
      return {
        headers: { ...notStored, "set-cookie": setCookie(request, cookie, cookieSeconds) },
        json: { proof, user_id: owner.userId, expires_at: isoOf(endsAtMs) },
      };
    },
    async logOut({ body, caller, request }) {
      requireKeys();
      const isEverywhere = body?.everywhere === true;
      if (isEverywhere) {
        requireRole(caller, "member");
        requireUnscoped(caller);
      }
      const idToken = caller.loginId === undefined ? null : logins.sealedIdTokenOf(caller.loginId);
      if (isEverywhere) await logins.endAll(caller.userId);
      else if (caller.loginId !== undefined) await logins.end(caller.userId, caller.loginId);
      else throw new Fault("conflict", "not_a_login", notALogin);
      const there =
        idToken === null ? null : await oidc?.logoutUrl(idToken, `${request.publicAddress}/login`);
      if (there === null || there === undefined) return over(request);
      const { headers } = over(request);
      return { headers, json: { provider_url: there.href } satisfies LogoutReply };
    },
    async listLogins({ caller }) {
      const found = keys.isOpen ? [] : await logins.list(caller.userId);
      return { headers: notStored, json: { logins: found.map((view) => toEntry(view, caller)) } };
    },
    async endLogin({ caller, params: { login_id: id }, request }) {
      if (!(await logins.end(caller.userId, id))) {
        throw new Fault("missing", "login_not_found", `There is no login ${id}.`);
      }
      return id === caller.loginId ? over(request) : { status: 204, text: "" };
    },
  } satisfies Handlers<typeof loginRoutes>;
}

const wrongLogin =
  "This does not log in: a ticket works once and for ten minutes. Make a new one with: convoke open.";

const notALogin = "This was asked with a key, which has no login to end. Send everywhere: true to end all.";

/**
 * Any page can link to a ticket of somebody else. A logged-in person must confirm before the browser becomes another
 * user's, who would own everything typed from then on; the ticket stays valid.
 */
async function refuseOther(
  { ticket, replaces }: LoginRequest,
  request: FastifyRequest,
  logins: LoginStore,
): Promise<void> {
  if (!ticket || replaces === true) return;
  const users = loginCookies(request).flatMap((cookie) => logins.userOfCookie(cookie) ?? []);
  const owner = users.length === 0 ? null : await logins.ownerOfTicket(ticket);
  // Another server of this host may have set a cookie, so one matching cookie is not enough.
  const other = users.find((user) => user !== owner);
  if (owner === null || other === undefined) return;
  const sentence = `You are logged in here as ${other}. This link logs you out and logs in ${owner}. Go on only if you asked for it: what you do then belongs to ${owner}.`;
  throw new Fault("conflict", "other_login", sentence);
}

/** The user of the new login; null for an invalid ticket or key. */
async function redeem(
  { ticket, key }: LoginRequest,
  { keys, logins }: Pick<FaceDeps, "keys" | "logins">,
): Promise<LoginOwner | null> {
  if ((ticket ?? null) === (key ?? null) || (ticket && key)) {
    throw invalidField(["body", "ticket"], "Send either a ticket or a key.");
  }
  if (key) {
    const caller = keys.identify(key);
    return caller === null ? null : ownerOfKey(caller, key);
  }
  const owner = await logins.redeem(ticket ?? "");
  return owner !== null && keys.isStillGood(owner) ? owner : null;
}

/** A browser that logs another one in passes on its own key: both logins end with that key. */
function ownerOf(caller: Caller, request: FastifyRequest, logins: LoginStore): LoginOwner {
  if (caller.loginId === undefined) return ownerOfKey(caller, keyOfHeaders(request.headers) ?? "");
  const { userId, keyId } = caller;
  const keyMark = logins.keyMarkOf(caller.loginId) ?? "";
  return { userId, keyMark, keyId, endsAtMs: logins.lastEndOf(caller.loginId) };
}

function ownerOfKey({ userId, keyId }: Caller, key: string): LoginOwner {
  return keyId === undefined ? { userId, keyMark: markOfKey(key) } : { userId, keyId, keyMark: "" };
}

function toEntry(view: LoginView, caller: Caller): LoginEntry {
  return {
    id: view.id,
    client: view.client,
    address: view.address,
    created_at: isoOf(view.createdAtMs),
    last_used_at: isoOf(view.lastUsedAtMs),
    expires_at: isoOf(view.endsAtMs),
    is_current: view.id === caller.loginId,
  };
}

function over(request: FastifyRequest): RouteReply {
  return { status: 204, headers: { ...notStored, "set-cookie": setCookie(request, "", 0) }, text: "" };
}

function setCookie(request: FastifyRequest, value: string, seconds: number): string {
  return `${loginCookieName(request)}=${value}; Max-Age=${seconds}; ${loginCookiePlace(request)}`;
}
