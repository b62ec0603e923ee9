import type {
  CreateKeyRequest,
  IssuedKeyScope,
  KeyInfo,
  KeyScope,
  UserRole,
  keyRoutes,
} from "@convoke/protocol";
import type { Handlers } from "../../http/mount.ts";
import { notStored } from "../../http/route-reply.ts";
import type { Caller } from "../../security/caller.ts";
import type { StoredScope } from "../../security/key-scope.ts";
import { isAtLeast, lesserRole, roleOf } from "../../security/roles.ts";
import { Fault, invalidField } from "../../lib/fault.ts";
import { isoOf } from "../../lib/instant.ts";
import { storedId } from "../../lib/uuid7.ts";
import type { KeyEntry } from "../../settings/key-store.ts";
import type { FaceDeps } from "../face-deps.ts";

/** The caller's own keys; admins may manage everybody's. A revoked or expired key no longer exists. */
export function keyHandlers({ keyStore, clock }: FaceDeps) {
  const isUsable = ({ revokedAtMs, expiresAtMs }: KeyEntry): boolean =>
    revokedAtMs === null && (expiresAtMs ?? Infinity) > clock.nowMs();
  const ofCaller = async (caller: Caller): Promise<KeyEntry[]> => {
    const entries = await keyStore.list();
    return entries.filter((entry) => isUsable(entry) && mayHave(caller, entry.userId));
  };
  /** A key makes no key that outlives it. */
  const readExpiry = async (given: string | null, { keyId }: Caller): Promise<number | null> => {
    const expiresAtMs = given === null ? null : Date.parse(given);
    if (expiresAtMs !== null && !(expiresAtMs > clock.nowMs()))
      throw invalidField(["body", "expires_at"], "Send a moment in the future.");
    const own = (await keyStore.list()).find(({ id }) => id === keyId)?.expiresAtMs ?? null;
    if (own === null || (expiresAtMs !== null && expiresAtMs <= own)) return expiresAtMs;
    if (expiresAtMs === null) return own;
    throw new Fault(
      "refused",
      "more_than_own_key",
      `expires_at is later than the end of the key that asks. Send ${isoOf(own)} or earlier.`,
    );
  };
  /** Null: that of the user. A key makes no key that may more than itself, also after the user was given more. */
  const readRole = (given: UserRole | null, userId: string, caller: Caller): UserRole | null => {
    const own = roleOf(caller);
    const ofUser = keyStore.users.roleOf(userId);
    const max = lesserRole(own, ofUser);
    if (given === null) return isAtLeast(own, ofUser) && !isLimited(caller) ? null : own;
    if (isAtLeast(max, given)) return given;
    throw new Fault(
      "refused",
      "more_than_own_key",
      `role is more than this key or the user ${userId} has. Send ${max}, or leave it out.`,
    );
  };
  /** Whether the key itself has a role, and not only its user. */
  const isLimited = ({ keyId }: Caller): boolean =>
    keyId !== undefined && keyStore.get(keyId)?.ownRole !== null;
  return {
    async listKeys({ caller }) {
      const entries = await ofCaller(caller);
      return { headers: notStored, json: { keys: entries.map((entry) => toInfo(entry, caller)) } };
    },
    async getKey({ caller, params: { key_id: id } }) {
      const found = (await ofCaller(caller)).find((entry) => entry.id === id);
      if (found === undefined) throw noSuchKey(id);
      return { headers: notStored, json: toInfo(found, caller) };
    },
    async createKey({ body, caller }) {
      const { label = "", user, role, scope, expires_at: expiresAt } = body ?? {};
      const userId = user ?? caller.userId;
      if (!mayHave(caller, userId)) {
        throw new Fault("refused", "keys_of_others", "Only admins give keys to others. Leave user out.");
      }
      if (keyStore.users.isDisabled(userId)) {
        throw new Fault(
          "conflict",
          "user_disabled",
          `The user ${userId} is disabled. Enable the user first.`,
        );
      }
      const expiresAtMs = await readExpiry(expiresAt ?? null, caller);
      const limits = { expiresAtMs, role: readRole(role ?? null, userId, caller), scope: readScope(scope) };
      const { key, entry } = await keyStore.create(userId, label, limits);
      return { status: 201, headers: notStored, json: { ...toInfo(entry, caller), key } };
    },
    async revokeKey({ caller, params: { key_id: id } }) {
      const isThere = (await ofCaller(caller)).some((entry) => entry.id === id);
      if (!isThere || !(await keyStore.revoke(id))) {
        throw noSuchKey(id);
      }
      return { status: 204, text: "" };
    },
  } satisfies Handlers<typeof keyRoutes>;
}

/** In the spelling of the store. */
function readScope(scope: CreateKeyRequest["scope"]): KeyScope | null {
  if (scope === undefined || scope === null) return null;
  const { conversation, ...others } = scope;
  return conversation === undefined ? others : { ...others, conversation: storedId(conversation) };
}

function noSuchKey(id: string): Fault {
  return new Fault("missing", "key_not_found", `There is no usable key ${id}.`);
}

function mayHave(caller: Caller, userId: string): boolean {
  return caller.userId === userId || roleOf(caller) === "admin";
}

function toInfo(entry: KeyEntry, caller: Caller): KeyInfo {
  return {
    id: entry.id,
    user_id: entry.userId,
    label: entry.label,
    role: entry.role,
    scope: toShownScope(entry.scope),
    created_at: isoOf(entry.createdAtMs),
    last_used_at: entry.lastUsedAtMs === null ? null : isoOf(entry.lastUsedAtMs),
    expires_at: entry.expiresAtMs === null ? null : isoOf(entry.expiresAtMs),
    is_current: entry.id === caller.keyId,
  };
}

function toShownScope(scope: StoredScope | null): IssuedKeyScope | null {
  if (scope === null) return null;
  const { share, ...others } = scope;
  return share === undefined
    ? others
    : {
        ...others,
        share: {
          up_to_event_id: share.up_to?.eventId ?? null,
          include_system_prompt: share.system_prompt === true,
        },
      };
}
