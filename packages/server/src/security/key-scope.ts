import type { KeyScope } from "@convoke/protocol";
import { Fault } from "../lib/fault.ts";
import { normalizeUuid } from "../lib/uuid7.ts";
import type { Caller } from "./caller.ts";

/** Reads a stored scope. One that this release does not know reaches nothing. */
export function parseKeyScope(stored: string | null): KeyScope | null {
  if (stored === null) return null;
  const { conversation, read_only: isReadOnly, ...others } = JSON.parse(stored) as Record<string, unknown>;
  if (Object.keys(others).length > 0) return { conversation: "", read_only: true };
  return {
    ...(typeof conversation === "string" ? { conversation } : {}),
    ...(isReadOnly === true ? { read_only: true } : {}),
  };
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
