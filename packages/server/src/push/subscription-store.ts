import { createHash } from "node:crypto";
import type { PushKind } from "@convoke/protocol";
import type { Selectable } from "kysely";
import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Tables } from "../database/tables.ts";
import { SealError, type SecretBox } from "../security/seal.ts";
import type { Clock } from "../lib/clock.ts";
import type { Caller } from "../security/caller.ts";

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

export type SubscriptionStoreDeps = {
  readonly database: ApplicationDatabase;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
};

/** A user's oldest subscriptions go when there are more. */
export const maxSubscriptions = 50;

type Row = Selectable<Tables["push_subscriptions"]>;

/** Push subscriptions of browsers. A browser has one subscription: that of the user who subscribed last. */
export class SubscriptionStore {
  readonly #deps: SubscriptionStoreDeps;

  constructor(deps: SubscriptionStoreDeps) {
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
      const oldest = await tables
        .selectFrom("push_subscriptions")
        .select("id")
        .where("user_id", "=", owner.userId)
        .where("id", "!=", id)
        .orderBy("created_at", "desc")
        .offset(maxSubscriptions - 1)
        .limit(maxSubscriptions)
        .execute();
      const ids = oldest.map((one) => one.id);
      if (ids.length > 0) await tables.deleteFrom("push_subscriptions").where("id", "in", ids).execute();
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
      const target = this.#open(row.sealed_endpoint);
      return target === null ? [] : [{ subscription: toSubscription(row), target }];
    });
  }

  /** False where the user has none of this id. */
  async remove(userId: string, id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#deps.database.tables
      .deleteFrom("push_subscriptions")
      .where("id", "=", id)
      .where("user_id", "=", userId)
      .executeTakeFirstOrThrow();
    return numDeletedRows > 0n;
  }

  async #rows(userId: string): Promise<Row[]> {
    return await this.#deps.database.tables
      .selectFrom("push_subscriptions")
      .selectAll()
      .where("user_id", "=", userId)
      .orderBy("created_at")
      .orderBy("id")
      .execute();
  }

  #open(sealed: string): PushTarget | null {
    try {
      return JSON.parse(this.#deps.secretBox.unseal(sealed)) as PushTarget;
    } catch (error) {
      if (error instanceof SealError) return null;
      throw error;
    }
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
