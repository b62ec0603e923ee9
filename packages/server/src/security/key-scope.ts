import type { KeyScope } from "@convoke/protocol";
import { Fault } from "../lib/fault.ts";
import { normalizeUuid } from "../lib/uuid7.ts";
import type { Caller, Share, SharedEnd } from "./caller.ts";

/** The scope of a key as it is stored. */
export type StoredScope = KeyScope & {
  /** Of a share link. */
  readonly share?: { readonly up_to?: SharedEnd; readonly system_prompt?: true };
};

/** What is shown of a scope that this release cannot read: there is no such conversation. A key with it is refused. */
export const unreadableScope: StoredScope = {
  conversation: "00000000-0000-0000-0000-000000000000",
  read_only: true,
};

/** Reads a stored scope; {@link unreadableScope} for one that is damaged, or that this release does not know. */
export function parseKeyScope(stored: string | null): StoredScope | null {
  if (stored === null) return null;
  const { conversation, read_only: isReadOnly, share, ...others } = parseObject(stored);
  const id = typeof conversation === "string" ? normalizeUuid(conversation) : null;
  const isConversation = id !== null || conversation === undefined;
  const isFlag = isReadOnly === true || isReadOnly === undefined;
  const isLimit = id !== null || isReadOnly === true;
  const isShare = share === undefined || (id !== null && isReadOnly === true && isStoredShare(share));
  if (!isConversation || !isFlag || !isLimit || !isShare || Object.keys(others).length > 0)
    return unreadableScope;
  return {
    ...(id === null ? {} : { conversation: id }),
    ...(isReadOnly === true ? { read_only: true } : {}),
    ...(share === undefined ? {} : { share }),
  };
}

function isStoredShare(share: unknown): share is NonNullable<StoredScope["share"]> {
  if (typeof share !== "object" || share === null) return false;
  const { up_to: upTo, system_prompt: prompt, ...others } = share as Readonly<Record<string, unknown>>;
  if (Object.keys(others).length > 0 || (prompt !== undefined && prompt !== true)) return false;
  if (upTo === undefined) return true;
  if (typeof upTo !== "object" || upTo === null) return false;
  const { eventId, seq, micros } = upTo as Readonly<Record<string, unknown>>;
  return typeof eventId === "string" && Number.isSafeInteger(seq) && Number.isSafeInteger(micros);
}

/** What a key with this scope reads as a share link; undefined for other keys. */
export function shareOf(scope: StoredScope | null, expiresAtMs: number | null): Share | undefined {
  if (scope?.share === undefined) return undefined;
  const { up_to: upTo = null, system_prompt: prompt } = scope.share;
  return { expiresAtMs, upTo, hasSystemPrompt: prompt === true };
}

/** What is no object has no limits, and is unreadable. */
function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : {};
  } catch {
    return {}; // Damaged.
  }
}

/** Whether a conversation is outside the scope of the caller's key. */
export function isOutsideScope({ onlyConversation }: Pick<Caller, "onlyConversation">, id: string): boolean {
  return onlyConversation !== undefined && normalizeUuid(id) !== onlyConversation;
}

/** Throws a Fault for the key of one conversation. */
export function requireUnscoped({ onlyConversation }: Caller): void {
  if (onlyConversation === undefined) return;
  throw new Fault(
    "refused",
    "scope_refused",
    "This key is for one conversation, and this is not a part of it. Use another key.",
  );
}
