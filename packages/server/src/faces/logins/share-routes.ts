import type { Share, shareRoutes } from "@convoke/protocol";
import { findAsked } from "../../http/asked-conversation.ts";
import type { Handlers } from "../../http/mount.ts";
import { notStored } from "../../http/route-reply.ts";
import { Fault, invalidField } from "../../lib/fault.ts";
import { isoOf, parseInstant } from "../../lib/instant.ts";
import { isWhole } from "../../journal/shown-event.ts";
import { objectOr } from "../../lib/json-object.ts";
import type { Caller, SharedEnd } from "../../security/caller.ts";
import type { KeyEntry } from "../../settings/key-store.ts";
import type { FaceDeps } from "../face-deps.ts";

const defaultSeconds = 7 * 24 * 60 * 60;

/** The share links of a conversation: keys of its owner that read its log and nothing else. */
export function shareHandlers({ keyStore, keys, directory, journal, clock }: FaceDeps) {
  async function sharesOf({ userId }: Caller, conversationId: string): Promise<KeyEntry[]> {
    const nowMs = clock.nowMs();
    return (await keyStore.list()).filter(
      ({ scope, revokedAtMs, expiresAtMs, ...entry }) =>
        scope?.share !== undefined &&
        scope.conversation === conversationId &&
        entry.userId === userId &&
        revokedAtMs === null &&
        (expiresAtMs ?? Infinity) > nowMs,
    );
  }

  /** No link outlives the key that made it. */
  async function readExpiry(seconds: number | undefined, { keyId }: Caller): Promise<number> {
    const expiresAtMs = clock.nowMs() + (seconds ?? defaultSeconds) * 1_000;
    const own = (await keyStore.list()).find(({ id }) => id === keyId)?.expiresAtMs ?? Infinity;
    if (expiresAtMs <= own) return expiresAtMs;
    if (seconds === undefined) return own;
    throw new Fault(
      "refused",
      "more_than_own_key",
      `The link would end after the key that asks, which ends at ${isoOf(own)}. Send fewer seconds.`,
    );
  }

  async function readEnd(conversationId: string, eventId: string): Promise<SharedEnd> {
    const [event] = await journal.getEvents(conversationId, [eventId.toLowerCase()]);
    const isReadable = event != null && isWhole(event.json);
    const { timestamp } = isReadable ? objectOr(JSON.parse(event.json)) : {};
    const micros = typeof timestamp === "string" ? parseInstant(timestamp) : null;
    if (event == null || micros === null)
      throw invalidField(["body", "up_to_event_id"], "This conversation has no such event.");
    return { eventId: event.id, seq: event.seq, micros };
  }

  return {
    async createShare(request) {
      const { body, caller } = request;
      const id = await findAsked(directory, request);
      if (keys.isOpen)
        throw new Fault(
          "conflict",
          "no_logins",
          "This server needs no key: everybody who reaches it reads everything.",
        );
      const given = body ?? {};
      const end = given.up_to_event_id == null ? null : await readEnd(id, given.up_to_event_id);
      const { key, entry } = await keyStore.create(caller.userId, given.label ?? "", {
        expiresAtMs: await readExpiry(given.expires_in_seconds, caller),
        scope: {
          conversation: id,
          read_only: true,
          share: {
            ...(end === null ? {} : { up_to: end }),
            ...(given.include_system_prompt === true ? { system_prompt: true } : {}),
          },
        },
      });
      const url = `${request.request.publicAddress}/shared/${id}#${key}`;
      return { status: 201, headers: notStored, json: { ...toShare(entry), url, key } };
    },
    async listShares(request) {
      const shares = await sharesOf(request.caller, await findAsked(directory, request));
      return { headers: notStored, json: { shares: shares.map(toShare) } };
    },
    async revokeShare(request) {
      const id = request.params.share_id;
      const shares = await sharesOf(request.caller, await findAsked(directory, request));
      if (!shares.some((entry) => entry.id === id) || !(await keyStore.revoke(id)))
        throw new Fault("missing", "share_not_found", `This conversation has no usable share link ${id}.`);
      return { status: 204, text: "" };
    },
  } satisfies Handlers<typeof shareRoutes>;
}

function toShare(entry: KeyEntry): Share {
  return {
    id: entry.id,
    label: entry.label,
    up_to_event_id: entry.scope?.share?.up_to?.eventId ?? null,
    include_system_prompt: entry.scope?.share?.system_prompt === true,
    created_at: isoOf(entry.createdAtMs),
    expires_at: isoOf(entry.expiresAtMs ?? 0),
    last_used_at: entry.lastUsedAtMs === null ? null : isoOf(entry.lastUsedAtMs),
  };
}
