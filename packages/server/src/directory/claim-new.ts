import {
  LeaseHeldError,
  LeaseLostError,
  UnknownConversationError,
  type Journal,
  type Lease,
} from "../journal/journal.ts";

/** Of a copy that was just created. If this process stalls, another server may have adopted and removed it. */
export async function claimNew(journal: Pick<Journal, "claim">, id: string): Promise<Lease> {
  try {
    return await journal.claim(id);
  } catch (error) {
    if (!(error instanceof LeaseHeldError || error instanceof UnknownConversationError)) throw error;
    throw new LeaseLostError(`Conversation ${id} was adopted before it was copied`, { cause: error });
  }
}
