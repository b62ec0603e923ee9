import type { ApplicationDatabase } from "../database/application-database.ts";
import type { Clock } from "../lib/clock.ts";
import type { SecretBox } from "../security/seal.ts";

/** What stores in the application's tables are made of. */
export type StoreDeps = { readonly database: ApplicationDatabase; readonly clock: Clock };

/** The same for those that seal what they store. */
export type SealedStoreDeps = StoreDeps & { readonly secretBox: SecretBox };
