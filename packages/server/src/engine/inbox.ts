import { createHash } from "node:crypto";
import type { Message } from "@convoke/protocol";
import type { InboxEntry, Journal } from "../journal/journal.ts";
import { Fault } from "../lib/fault.ts";

/** A digest that distinguishes a repeated message from another one under the same id. */
export function messageDigest(message: Message): string {
  return createHash("sha256").update(JSON.stringify(message)).digest("hex");
}

/** The earlier event of this client message id; null for a new id. The same id with other content is a conflict. */
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
