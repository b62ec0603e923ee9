import { type Caller, localUser } from "../security/caller.ts";
import { hash, timingSafeEqual } from "node:crypto";

/** Tells callers from strangers. */
export interface KeyRing {
  /** True when the server has no keys and trusts whoever can reach it (loopback only). */
  readonly isOpen: boolean;
  /** The caller whose key this is; null for a stranger. Takes the same time for every wrong key. */
  identify(key: string): Caller | null;
  /** The caller whose login these are the two halves of; null for a stranger. */
  identifyLogin(halves: LoginHalves): Caller | null;
  /** False once the key or the login of a caller is over; for connections that outlive a request. */
  isStillGood(caller: Caller): boolean;
}

/** Knows the keys that users were given. */
export interface IssuedKeys {
  find(key: string): { readonly id: string; readonly userId: string } | null;
  isUsable(id: string): boolean;
}

/** The halves of a browser's login: neither opens anything alone. */
export type LoginHalves = { readonly cookie: string; readonly proof: string };

/** Knows the browsers that are logged in. */
export interface KnownLogins {
  find(halves: LoginHalves): { readonly id: string; readonly userId: string; readonly keyId?: string } | null;
  isUsable(id: string): boolean;
}

/** Keys given by configuration, whose digests alone stay in memory and which are the local user's, and issued ones. */
export function createKeyRing(
  keys: readonly string[],
  issued: IssuedKeys,
  logins: KnownLogins = noLogins,
): KeyRing {
  const digests = keys.map(digest);
  return {
    isOpen: keys.length === 0,
    identify(key) {
      const given = digest(key);
      let isKnown = false;
      for (const known of digests) isKnown = timingSafeEqual(known, given) || isKnown;
      if (isKnown) return localUser;
      const found = issued.find(key);
      return found === null ? null : { userId: found.userId, keyId: found.id };
    },
    identifyLogin(halves) {
      const login = logins.find(halves);
      if (login === null) return null;
      const { id: loginId, userId, keyId } = login;
      if (keyId === undefined) return { userId, loginId, means: "login" };
      return issued.isUsable(keyId) ? { userId, keyId, loginId, means: "login" } : null;
    },
    isStillGood: ({ keyId, loginId }) =>
      (keyId === undefined || issued.isUsable(keyId)) && (loginId === undefined || logins.isUsable(loginId)),
  };
}

const noLogins: KnownLogins = { find: () => null, isUsable: () => false };

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The key of a request: `X-Session-API-Key`, else `Authorization: Bearer`; null when there is none. */
export function keyOfHeaders(headers: Headers): string | null {
  const own = headers["x-session-api-key"];
  if (typeof own === "string" && own !== "") return own;
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(headers.authorization?.toString() ?? "");
  return bearer?.[1] ?? null;
}

/** The caller whose key a request has, and everybody where none is needed; null for a stranger and without a key. */
export function callerOfKey(headers: Headers, keys: KeyRing): Caller | null {
  if (keys.isOpen) return localUser;
  const key = keyOfHeaders(headers);
  return key === null ? null : keys.identify(key);
}

function digest(key: string): Buffer {
  return hash("sha256", key, "buffer");
}
