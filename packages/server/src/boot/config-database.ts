import { ConfigError } from "../lib/config-error.ts";
import type { PostgresPlace } from "../database/postgres-place.ts";
import { read, type Environment } from "./setting.ts";
import { settings } from "./settings.ts";

/**
 * Reads `CONVOKE_DATABASE` and its companions; null when all data is in the data folder. `given` wins over the
 * environment.
 */
export function readDatabase(environment: Environment, given?: string): PostgresPlace | null {
  const text = given ?? read(environment, settings.database) ?? "";
  if (text === "") return null;
  const listen = read(environment, settings.database_listen);
  return {
    url: readUrl("--database (CONVOKE_DATABASE)", text),
    listenUrl:
      listen === null ? undefined : listen === "off" ? null : readUrl("CONVOKE_DATABASE_LISTEN", listen),
    nodeAddress: readAddress(read(environment, settings.node_address)),
  };
}

/** The value is not shown: it may hold a password. */
function readUrl(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPostgres = url?.protocol === "postgres:" || url?.protocol === "postgresql:";
  if (isPostgres && url.pathname.length > 1) return text;
  throw new ConfigError(
    `${name} must be an address such as postgres://user@host:5432/database. What a password in it has of @, :, / and % is written as %40, %3A, %2F and %25.`,
  );
}

function readAddress(text: string | null): string | null {
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new ConfigError(
    "CONVOKE_NODE_ADDRESS must be how other servers reach this one, such as http://10.0.0.7:8000.",
  );
}
