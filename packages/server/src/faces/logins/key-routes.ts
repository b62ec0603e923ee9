import type { CreateKeyRequest, KeyInfo } from "@convoke/protocol";
import { localUser, type Caller } from "../../security/caller.ts";
import type { RouteHandler } from "../../http/mount.ts";
import { Fault } from "../../lib/fault.ts";
import type { KeyStore, KeyEntry } from "../../settings/key-store.ts";

export type KeyRouteDeps = { readonly keyStore: KeyStore };

const noStore = { "cache-control": "no-store" };

/** The caller's own keys; the local user may manage everybody's. A revoked key no longer exists. */
export function keyHandlers({ keyStore }: KeyRouteDeps) {
  const ofCaller = async (caller: Caller): Promise<KeyEntry[]> => {
    const entries = await keyStore.list();
    return entries.filter(({ userId, revokedAtMs }) => revokedAtMs === null && mayHave(caller, userId));
  };
  return {
    async listKeys({ caller }) {
      const entries = await ofCaller(caller);
      return { headers: noStore, json: { keys: entries.map((entry) => toInfo(entry, caller)) } };
    },
    async getKey({ caller, params }) {
      const id = params["key_id"]!;
      const found = (await ofCaller(caller)).find((entry) => entry.id === id);
      if (found === undefined) throw noSuchKey(id);
      return { headers: noStore, json: toInfo(found, caller) };
    },
    async createKey({ body, caller }) {
      const { label = "", user } = (body ?? {}) as CreateKeyRequest;
      const userId = user ?? caller.userId;
      if (!mayHave(caller, userId)) {
        throw new Fault(
          "refused",
          "keys_of_others",
          "Only the local user gives keys to others. Leave user out.",
        );
      }
      const { key, entry } = await keyStore.create(userId, label);
      return { status: 201, headers: noStore, json: { ...toInfo(entry, caller), key } };
    },
    async revokeKey({ caller, params }) {
      const id = params["key_id"]!;
      const isThere = (await ofCaller(caller)).some((entry) => entry.id === id);
      if (!isThere || !(await keyStore.revoke(id))) {
        throw noSuchKey(id);
      }
      return { status: 204, text: "" };
    },
  } satisfies Record<string, RouteHandler>;
}

function noSuchKey(id: string): Fault {
  return new Fault("missing", "key_not_found", `There is no usable key ${id}.`);
}

function mayHave(caller: Caller, userId: string): boolean {
  return caller.userId === userId || caller.userId === localUser.userId;
}

function toInfo(entry: KeyEntry, caller: Caller): KeyInfo {
  return {
    id: entry.id,
    user_id: entry.userId,
    label: entry.label,
    created_at: new Date(entry.createdAtMs).toISOString(),
    last_used_at: entry.lastUsedAtMs === null ? null : new Date(entry.lastUsedAtMs).toISOString(),
    is_current: entry.id === caller.keyId,
  };
}
