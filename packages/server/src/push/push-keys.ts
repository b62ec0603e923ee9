import webPush from "web-push";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Logger } from "../lib/logger.ts";
import { SealError, type SecretBox } from "../security/seal.ts";

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
    await tables
      .insertInto("push_keys")
      .values({ id, ...fresh })
      .onConflict((conflict) => conflict.column("id").doNothing())
      .execute();
    const row = await tables
      .selectFrom("push_keys")
      .selectAll()
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    try {
      return { publicKey: row.public_key, privateKey: secretBox.unseal(row.sealed_private_key) };
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      // A browser's subscription is bound to the key that it was made with.
      logger.warn(
        {},
        "the key of web push was sealed with another master key: there is a new one, and browsers must subscribe again",
      );
      await tables.deleteFrom("push_subscriptions").execute();
      await tables.updateTable("push_keys").set(fresh).where("id", "=", id).execute();
      return made;
    }
  });
}
