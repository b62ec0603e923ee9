import type { UserRole } from "@convoke/protocol";
import { type Caller, localUser } from "../security/caller.ts";
import { isAtLeast } from "../security/roles.ts";
import type { UsableKey } from "../settings/key-store.ts";
import { hash, timingSafeEqual } from "node:crypto";

/** Authenticates callers. */
export interface KeyRing {
  /** True when the server has no keys and trusts everybody who can reach it (loopback only). */
  readonly isOpen: boolean;
  /**
   * The caller with this key; null for an unknown key. Takes the same time for every wrong key. With `isLimited` no
   * configured key is compared.
   */
  identify(key: string, isLimited?: boolean): Caller | null;
  /** The caller of the login with these two halves; null when they do not belong together. */
  identifyLogin(halves: LoginHalves): Caller | null;
  /** False once a caller's key or login has ended, or may less; for connections that outlive a request. */
  isStillGood(caller: Caller): boolean;
  /** What a user may do now. */
  roleOfUser(userId: string): UserRole;
}

/** Finds the issued keys of users. */
export interface IssuedKeys {
  find(key: string): UsableKey | null;
  get(id: string): UsableKey | null;
  readonly users: { roleOf(userId: string): UserRole; isDisabled(userId: string): boolean };
}

/** The two halves of a browser's login: neither is usable alone. */
export type LoginHalves = { readonly cookie: string; readonly proof: string };

/** Finds the logins of browsers. */
export interface KnownLogins {
  find(
    halves: LoginHalves,
  ): { readonly id: string; readonly userId: string; readonly keyId?: string | undefined } | null;
  isUsable(id: string): boolean;
}

/**
 * Authenticates configured keys, which belong to the local user and of which only digests stay in memory, and issued
 * keys.
 */
export function createKeyRing(
  keys: readonly string[],
  issued: IssuedKeys,
  logins: KnownLogins = noLogins,
): KeyRing {
  const digests = keys.map(digest);
  return {
    isOpen: keys.length === 0,
    identify(key, isLimited = false) {
      const given = digest(key);
      let isKnown = false;
      for (const known of isLimited ? [] : digests) isKnown = timingSafeEqual(known, given) || isKnown;
      if (isKnown) return localUser;
      const found = issued.find(key);
      return found === null ? null : callerOfIssued(found);
    },
    identifyLogin(halves) {
      const login = logins.find(halves);
      if (login === null || issued.users.isDisabled(login.userId)) return null;
      const { id: loginId, userId, keyId } = login;
      if (keyId === undefined) return { userId, role: issued.users.roleOf(userId), loginId, means: "login" };
      const key = issued.get(keyId);
      return key === null ? null : { ...callerOfIssued(key), loginId, means: "login" };
    },
    isStillGood: ({ userId, keyId, loginId, role }) => {
      const key = keyId === undefined ? undefined : issued.get(keyId);
      if (issued.users.isDisabled(userId)) return false;
      if (key === null || (loginId !== undefined && !logins.isUsable(loginId))) return false;
      return role === undefined || isAtLeast(key?.role ?? issued.users.roleOf(userId), role);
    },
    roleOfUser: (userId) => issued.users.roleOf(userId),
  };
}

function callerOfIssued({ id, userId, role, onlyConversation, share }: UsableKey): Caller {
  return { userId, keyId: id, role, onlyConversation, share };
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

/** The caller of a request by its key, or the local user where no key is needed; null for a wrong or missing key. */
export function callerOfKey(headers: Headers, keys: KeyRing): Caller | null {
  if (keys.isOpen) return localUser;
  const key = keyOfHeaders(headers);
  return key === null ? null : keys.identify(key);
}

function digest(key: string): Buffer {
  return hash("sha256", key, "buffer");
}
