import type { ColumnType } from "kysely";

/** Times are epoch milliseconds. Texts named `sealed_*` are opened by the data folder's master key only. */
export type Tables = {
  users: UserTable;
  keys: KeyTable;
  settings: SettingsTable;
  secrets: SecretTable;
};

type Fixed<T> = ColumnType<T, T, never>;

/** The id is the name that the user was given; `local` is always there. */
export type UserTable = { readonly id: Fixed<string>; readonly created_at: Fixed<number> };

export type KeyTable = {
  readonly id: Fixed<string>;
  readonly user_id: Fixed<string>;
  /** SHA-256 of the key, in hex. */
  readonly digest: Fixed<string>;
  readonly label: Fixed<string>;
  readonly created_at: Fixed<number>;
  /** To the minute. */
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
};

export type SettingsTable = {
  readonly user_id: Fixed<string>;
  /** Grows by one with each change; a writer that read an older one starts again. */
  readonly version: number;
  readonly sealed_document: string;
  readonly updated_at: number;
};

export type SecretTable = {
  readonly user_id: Fixed<string>;
  readonly name: string;
  readonly description: string | null;
  readonly sealed_value: string;
  readonly updated_at: number;
};
