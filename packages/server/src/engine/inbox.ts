import { createHash } from "node:crypto";
import type { Message } from "@convoke/protocol";
import type { InboxEntry, Journal } from "../journal/journal.ts";
import { Fault } from "../lib/fault.ts";

/** Tells the same message sent again from another one under the same id. */
export function messageDigest(message: Message): string {
  return createHash("sha256").update(JSON.stringify(message)).digest("hex");
}

/** What this client message id led to before; null when it is new. The same id with another content is a conflict. */
export async function findSent(
  journal: Pick<Journal, "getInboxEntry">,
  conversationId: string,
  clientId: string,
  digest: string,
): Promise<InboxEntry | null> {
  const known = await journal.getInboxEntry(conversationId, clientId);
  if (known === null || known.digest === digest) return known;
  throw new Fault(
    "conflict",
    "client_message_id_reused",
    "This client message id was used for another message. Use a new id for a new message.",
  );
}
