import { createHash } from "node:crypto";
import type { PushKind } from "@convoke/protocol";
import type { Selectable } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { Caller } from "../security/caller.ts";
import { removeRows, rowsWith } from "../database/rows.ts";
import type { SealedStoreDeps } from "../settings/store-deps.ts";
import { unsealOrNull } from "../security/seal.ts";

/** Where a browser is reached, and what seals messages for it alone (RFC 8291). Its holder can write to the browser. */
export type PushTarget = {
  readonly endpoint: string;
  /** Both in base64url. */
  readonly keys: { readonly p256dh: string; readonly auth: string };
};

/** Who asked for a subscription; it ends with the key and the login. */
export type PushOwner = Pick<Caller, "userId" | "keyId" | "loginId">;

/** A subscription as its owner may see it. Times are epoch milliseconds. */
export type Subscription = {
  readonly id: string;
  readonly owner: PushOwner;
  /** The host of the push service. */
  readonly service: string;
  readonly kinds: readonly PushKind[];
  readonly createdAtMs: number;
};

/** A user's oldest subscriptions go when there are more. */
export const maxSubscriptions = 50;

type Row = Selectable<Tables["push_subscriptions"]>;

/** Push subscriptions of browsers. A browser has one subscription: that of the user who subscribed last. */
export class SubscriptionStore {
  readonly #deps: SealedStoreDeps;

  constructor(deps: SealedStoreDeps) {
    this.#deps = deps;
  }

  async add(owner: PushOwner, target: PushTarget, kinds: readonly PushKind[]): Promise<Subscription> {
    const { database, secretBox, clock } = this.#deps;
    const id = createHash("sha256").update(target.endpoint).digest("hex");
    const values = {
      user_id: owner.userId,
      key_id: owner.keyId ?? null,
      login_id: owner.loginId ?? null,
      kinds: [...new Set(kinds)].join(","),
      sealed_endpoint: secretBox.seal(JSON.stringify(target)),
    };
    return await database.transaction(async (tables) => {
      const row = await tables
        .insertInto("push_subscriptions")
        .values({ id, service: new URL(target.endpoint).host, created_at: clock.nowMs(), ...values })
        .onConflict((conflict) => conflict.column("id").doUpdateSet(values))
        .returningAll()
        .executeTakeFirstOrThrow();
      const oldest = await rowsWith(tables, "push_subscriptions", { user_id: owner.userId })
        .where("id", "!=", id)
        .orderBy("created_at", "desc")
        .offset(maxSubscriptions - 1)
        .limit(maxSubscriptions)
        .execute();
      const ids = oldest.map((one) => one.id);
      if (ids.length > 0) await removeRows(tables, "push_subscriptions", { id: ids });
      return toSubscription(row);
    });
  }

  /** The oldest first. */
  async list(userId: string): Promise<readonly Subscription[]> {
    return (await this.#rows(userId)).map(toSubscription);
  }

  /** The same, with what reaches them; those that cannot be opened any more are left out. */
  async targets(
    userId: string,
  ): Promise<readonly { readonly subscription: Subscription; readonly target: PushTarget }[]> {
    return (await this.#rows(userId)).flatMap((row) => {
      const target = unsealOrNull(this.#deps.secretBox, row.sealed_endpoint);
      if (target === null) return [];
      return [{ subscription: toSubscription(row), target: JSON.parse(target) as PushTarget }];
    });
  }

  /** False where the user has none of this id. */
  async remove(userId: string, id: string): Promise<boolean> {
    return (await removeRows(this.#deps.database.tables, "push_subscriptions", { id, user_id: userId })) > 0;
  }

  async #rows(userId: string): Promise<Row[]> {
    const query = rowsWith(this.#deps.database.tables, "push_subscriptions", { user_id: userId });
    return await query.orderBy("created_at").orderBy("id").execute();
  }
}

function toSubscription(row: Row): Subscription {
  return {
    id: row.id,
    owner: {
      userId: row.user_id,
      keyId: row.key_id ?? undefined,
      loginId: row.login_id ?? undefined,
    },
    service: row.service,
    kinds: row.kinds.split(",").filter((kind) => kind !== "") as PushKind[],
    createdAtMs: row.created_at,
  };
}
