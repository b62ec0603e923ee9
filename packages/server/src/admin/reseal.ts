import type { Kysely } from "kysely";
import type { ApplicationDatabase } from "../database/application-database.ts";
import { keysOf } from "../database/table-keys.ts";
import { SealError, type KeyRotation } from "../security/seal.ts";

/** `unopened` texts were sealed with a key that was lost earlier; they are left unchanged. */
export type RotateResult = { readonly resealed: number; readonly unopened: number };

/** Reseals texts with a new key, and counts them. */
export class Reseal {
  resealed = 0;
  unopened = 0;
  readonly #rotation: Pick<KeyRotation, "reseal">;
  readonly #onProgress: (resealed: number) => void;

  constructor(rotation: Pick<KeyRotation, "reseal">, onProgress: (resealed: number) => void) {
    this.#rotation = rotation;
    this.#onProgress = onProgress;
  }

  /** Passes a resealed text to `store`, unless it is sealed with the new key already or no key opens it. */
  async change(sealed: string, store: (resealed: string) => Promise<unknown>): Promise<void> {
    const resealed = this.#reseal(sealed);
    if (resealed === null) return;
    await store(resealed);
    this.resealed += 1;
    this.#onProgress(this.resealed);
  }

  #reseal(sealed: string): string | null {
    try {
      return this.#rotation.reseal(sealed);
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      this.unopened += 1;
      return null;
    }
  }
}

type AnyTables = Record<string, Record<string, string | number | null>>;

/** Every column with a name `sealed_*`, so that none can be forgotten. */
export async function resealTables({ tables: known }: ApplicationDatabase, reseal: Reseal): Promise<void> {
  const tables = known as unknown as Kysely<AnyTables>;
  for (const { name, columns } of await tables.introspection.getTables()) {
    // Tables of the journal are handled elsewhere.
    if (!Object.hasOwn(keysOf, name)) continue;
    const keys = keysOf[name as keyof typeof keysOf];
    for (const { name: column } of columns.filter((one) => one.name.startsWith("sealed_"))) {
      const rows = await tables
        .selectFrom(name)
        .select([...keys, column])
        .where(column, "is not", null)
        .execute();
      for (const row of rows) {
        await reseal.change(String(row[column]), async (resealed) => {
          let change = tables
            .updateTable(name)
            .set({ [column]: resealed })
            .where(column, "=", row[column]!);
          for (const key of keys) change = change.where(key, "=", row[key]!);
          await change.execute();
        });
      }
    }
  }
}
