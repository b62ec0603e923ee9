import webPush from "web-push";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Logger } from "../lib/logger.ts";
import type { SecretBox } from "../security/seal.ts";
import { addRow, putRow, removeRows, rowsWith } from "../database/rows.ts";
import { unsealOrNull } from "../security/seal.ts";

/** Both in base64url (RFC 8292): an uncompressed point of P-256 and its scalar. */
export type PushKeys = { readonly publicKey: string; readonly privateKey: string };

export type PushKeysDeps = {
  readonly database: ApplicationDatabase;
  readonly secretBox: SecretBox;
  readonly logger: Logger;
};

const id = "vapid";

/** The pair of keys of all servers on a store, made by the first of them that asks. */
export async function openPushKeys({ database, secretBox, logger }: PushKeysDeps): Promise<PushKeys> {
  const made = webPush.generateVAPIDKeys();
  return await database.transaction(async (tables) => {
    const fresh = { public_key: made.publicKey, sealed_private_key: secretBox.seal(made.privateKey) };
    await addRow(tables, "push_keys", { id, ...fresh });
    const row = await rowsWith(tables, "push_keys", { id }).executeTakeFirstOrThrow();
    const privateKey = unsealOrNull(secretBox, row.sealed_private_key);
    if (privateKey !== null) return { publicKey: row.public_key, privateKey };
    // A browser's subscription is bound to the key that it was made with.
    logger.warn(
      {},
      "the key of web push was sealed with another master key: there is a new one, and browsers must subscribe again",
    );
    await removeRows(tables, "push_subscriptions", {});
    await putRow(tables, "push_keys", { id, ...fresh });
    return made;
  });
}
