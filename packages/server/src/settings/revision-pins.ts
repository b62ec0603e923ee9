import type { UsedProfile } from "@convoke/protocol";
import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { ProfileKind } from "./profile-changes.ts";

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
  const values = { profile: pin.used.id, number: pin.used.revision, pinned_at: nowMs };
  await tables
    .insertInto("revision_pins")
    .values({ user_id: pin.userId, conversation_id: pin.conversationId, kind: pin.kind, ...values })
    .onConflict((conflict) => conflict.columns(["user_id", "conversation_id", "kind"]).doUpdateSet(values))
    .execute();
}

/** A copy of a conversation names the same revisions. */
export async function copyPins(
  tables: Writer,
  userId: string,
  from: string,
  to: string,
  nowMs: number,
): Promise<void> {
  const pins = await tables
    .selectFrom("revision_pins")
    .selectAll()
    .where("user_id", "=", userId)
    .where("conversation_id", "=", from)
    .execute();
  for (const { kind, profile: id, number } of pins)
    await putPin(tables, { userId, conversationId: to, kind, used: { id, revision: number } }, nowMs);
}

/** Removes what a conversation names, of one kind or of both. */
export async function removePins(
  tables: Writer,
  { userId, conversationId }: Pick<RevisionPin, "conversationId" | "userId">,
  kind: ProfileKind | null,
): Promise<void> {
  await tables
    .deleteFrom("revision_pins")
    .where("user_id", "=", userId)
    .where("conversation_id", "=", conversationId)
    .$if(kind !== null, (query) => query.where("kind", "=", kind!))
    .execute();
}
