import type { SecretBindingFields } from "@convoke/protocol";
import { checkSecretBinding, keepBinding } from "../egress/check-secret-binding.ts";
import { Fault, invalidField } from "../lib/fault.ts";
import { secretMask } from "./secret-fields.ts";
import { changeRows, putRow, removeRows, rowsWith } from "../database/rows.ts";
import type { SealedStoreDeps } from "./store-deps.ts";
import { withoutUndefined } from "../lib/without-undefined.ts";

/** What is shown of a secret; `hosts` and the like of a bound one only. */
export type SecretEntry = SecretBindingFields & {
  readonly name: string;
  readonly description: string | null;
};

/** A secret with its value. */
export type SecretWithValue = SecretBindingFields & { readonly value: string };

export type SecretQuery = {
  readonly nameContains?: string | undefined;
  /** Name of the first secret of this page. */
  readonly pageId?: string | undefined;
  readonly limit: number;
};

/** How many secrets a user may have. */
export const maxSecrets = 200;
const maxValueBytes = 64 * 1024;
const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** Names that affect how programs start, or that hold keys of the server. */
const reservedName = /^(OH_.*|CONVOKE_.*|SESSION_API_KEY|PATH|LD_.*|NODE_OPTIONS|PYTHONPATH|BASH_ENV|ENV)$/;

/** A user's secrets for tools: values are read for conversations, and one by one by their owner. */
export class SecretStore {
  readonly #deps: SealedStoreDeps;

  constructor(deps: SealedStoreDeps) {
    this.#deps = deps;
  }

  /** By name, at most `limit`, and the name of the next one. */
  async search(
    userId: string,
    query: SecretQuery,
  ): Promise<{ items: SecretEntry[]; nextPageId: string | null }> {
    const { nameContains: text = "", pageId = "", limit } = query;
    const own = rowsWith(this.#deps.database.tables, "secrets", { user_id: userId });
    const rows = await own.where("name", ">=", pageId).orderBy("name").execute();
    // There are never more than a few hundred; wildcards of SQL would have to be escaped for each database.
    const found = rows
      .filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()))
      .map(({ name, description, binding }) => ({ name, description, ...readBinding(binding) }));
    return { items: found.slice(0, limit), nextPageId: found[limit]?.name ?? null };
  }

  /** All with their values, for a new conversation and for masking. */
  async values(userId: string): Promise<Readonly<Record<string, SecretWithValue>>> {
    const rows = await rowsWith(this.#deps.database.tables, "secrets", { user_id: userId }).execute();
    return Object.fromEntries(rows.map((row) => [row.name, this.#withValue(row)]));
  }

  /** One with its value; null when there is no such secret. */
  async read(userId: string, name: string): Promise<SecretWithValue | null> {
    const query = rowsWith(this.#deps.database.tables, "secrets", { user_id: userId, name });
    const row = await query.executeTakeFirst();
    return row === undefined ? null : this.#withValue(row);
  }

  /**
   * Stores a secret; when its name is taken, replaces it or returns false. Without `hosts` the new value is bound as the one that it
   * replaces; null unbinds it.
   */
  async store(
    userId: string,
    secret: SecretEntry & { readonly value: string },
    whenTaken: "replace" | "refuse",
  ): Promise<boolean> {
    checkName(secret.name);
    checkValue(secret.value);
    const { database, secretBox, clock } = this.#deps;
    return await database.transaction(async (tables) => {
      const rows = await rowsWith(tables, "secrets", { user_id: userId }).execute();
      const before = rows.find(({ name }) => name === secret.name);
      if (before !== undefined && whenTaken === "refuse") return false;
      if (before === undefined && rows.length >= maxSecrets) {
        throw new Fault("conflict", "too_many_secrets", `A user has at most ${maxSecrets} secrets.`);
      }
      const binding = keepBinding(secret, readBinding(before?.binding ?? null));
      checkSecretBinding(secret.name, binding, secret.value, ["body"]);
      await putRow(tables, "secrets", {
        user_id: userId,
        name: secret.name,
        description: secret.description,
        sealed_value: secretBox.seal(secret.value),
        binding: writeBinding(binding),
        updated_at: clock.nowMs(),
      });
      return true;
    });
  }

  /** Renames, describes and binds a secret; what is undefined stays, and null hosts unbind it. */
  async update(
    userId: string,
    name: string,
    change: SecretBindingFields & {
      readonly name: string;
      readonly description: string | null | undefined;
    },
  ): Promise<"done" | "missing" | "taken"> {
    checkName(change.name);
    return await this.#deps.database.transaction(async (tables) => {
      const rows = await rowsWith(tables, "secrets", { user_id: userId }).execute();
      const before = rows.find((row) => row.name === name);
      if (before === undefined) return "missing";
      if (change.name !== name && rows.some((row) => row.name === change.name)) return "taken";
      const binding = keepBinding(change, readBinding(before.binding));
      checkSecretBinding(change.name, binding, this.#withValue(before).value, ["body"]);
      const changed = {
        name: change.name,
        updated_at: this.#deps.clock.nowMs(),
        description: change.description,
        binding: writeBinding(binding),
      };
      await changeRows(tables, "secrets", { user_id: userId, name }, withoutUndefined(changed));
      return "done";
    });
  }

  /** False when the secret does not exist. */
  async remove(userId: string, name: string): Promise<boolean> {
    return (await removeRows(this.#deps.database.tables, "secrets", { user_id: userId, name })) > 0;
  }

  #withValue(row: { readonly sealed_value: string; readonly binding: string | null }): SecretWithValue {
    return { value: this.#deps.secretBox.unseal(row.sealed_value), ...readBinding(row.binding) };
  }
}

function readBinding(binding: string | null): SecretBindingFields {
  return binding === null ? {} : (JSON.parse(binding) as SecretBindingFields);
}

function writeBinding({ hosts, as, shape }: SecretBindingFields): string | null {
  if (hosts === undefined || hosts === null) return null;
  return JSON.stringify({ hosts, as: as ?? undefined, shape: shape ?? undefined });
}

function checkName(name: string): void {
  if (!namePattern.test(name)) {
    throw invalidField(
      ["body", "name"],
      "A name has letters, digits and underscores and begins with no digit.",
    );
  }
  if (reservedName.test(name)) throw invalidField(["body", "name"], "This name is reserved. Choose another.");
}

function checkValue(value: string): void {
  if (value === secretMask) {
    throw invalidField(["body", "value"], "This is the mask of a stored secret. Send the value itself.");
  }
  if (Buffer.byteLength(value) > maxValueBytes) {
    throw invalidField(["body", "value"], "Send at most 64 KiB.", "string_too_long");
  }
}
