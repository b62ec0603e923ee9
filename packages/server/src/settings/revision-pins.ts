import type { UsedProfile } from "@convoke/protocol";
import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { ProfileKind } from "./profile-changes.ts";
import { putRow, removeRows, rowsWith } from "../database/rows.ts";

type Writer = Pick<Kysely<Tables>, "deleteFrom" | "insertInto" | "selectFrom">;

/** A revision that a conversation names. */
export type RevisionPin = {
  readonly userId: string;
  readonly conversationId: string;
  readonly kind: ProfileKind;
  readonly used: Pick<UsedProfile, "id" | "revision">;
};

/** Replaces what the conversation named before. */
export async function putPin(tables: Writer, pin: RevisionPin, nowMs: number): Promise<void> {
  const { userId, conversationId, kind, used } = pin;
  const key = { user_id: userId, conversation_id: conversationId, kind };
  await putRow(tables, "revision_pins", {
    ...key,
    profile: used.id,
    number: used.revision,
    pinned_at: nowMs,
  });
}

/** A copy of a conversation names the same revisions. */
export async function copyPins(
  tables: Writer,
  userId: string,
  from: string,
  to: string,
  nowMs: number,
): Promise<void> {
  const pins = await rowsWith(tables, "revision_pins", { user_id: userId, conversation_id: from }).execute();
  for (const { kind, profile: id, number } of pins)
    await putPin(tables, { userId, conversationId: to, kind, used: { id, revision: number } }, nowMs);
}

/** Removes what a conversation names, of one kind or of both. */
export async function removePins(
  tables: Writer,
  { userId, conversationId }: Pick<RevisionPin, "conversationId" | "userId">,
  kind: ProfileKind | null,
): Promise<void> {
  const wanted = { user_id: userId, conversation_id: conversationId, ...(kind === null ? {} : { kind }) };
  await removeRows(tables, "revision_pins", wanted);
}
