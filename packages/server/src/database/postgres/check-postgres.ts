import { DatabaseError, type Client } from "pg";
import { ConfigError } from "../../lib/config-error.ts";
import { DatabaseUnavailableError } from "../../lib/database-unavailable.ts";
import type { Logger } from "../../lib/logger.ts";
import { describePlace, type PostgresPlace } from "../postgres-place.ts";
import { receivesNotifications } from "./pooler.ts";
import { openConnection } from "./postgres-connection.ts";
import { isPooled } from "./postgres-client.ts";

/** Findings about a database. `problems` keep servers from starting; `warnings` name risks for the data. */
export type PostgresFindings = {
  /** Such as `15.18`. */
  readonly version: string;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** False where notifications do not come through, so that listening would only leave traces in sessions of others. */
  readonly canListen: boolean;
};

const oldestVersion = 15;

/** Rejects with {@link ConfigError} when servers cannot work with the database; logs what they can work with and should not. */
export async function checkPostgres(
  place: PostgresPlace,
  logger: Logger,
): Promise<Pick<PostgresFindings, "canListen">> {
  const { problems, warnings, canListen } = await inspectPostgres(place);
  if (problems.length > 0) throw new ConfigError(problems.join(" "));
  for (const warning of warnings) logger.warn({ database: describePlace(place) }, warning);
  return { canListen };
}

/** Changes nothing. Rejects with {@link ConfigError} when the database cannot be reached. */
export async function inspectPostgres(place: PostgresPlace): Promise<PostgresFindings> {
  const client = await connect(place);
  try {
    const found = await inspectServer(client, describePlace(place));
    const canListen = (await isPooled(client)) ? await receivesNotifications(client, place) : true;
    return { ...found, canListen, warnings: canListen ? found.warnings : [...found.warnings, unheard] };
  } finally {
    await client.end();
  }
}

const unheard =
  "a pooler that keeps no sessions is between here and the database, and no notifications come through it, so changes of other servers arrive up to a second late: give a direct address in CONVOKE_DATABASE_LISTEN, or off";

async function inspectServer(client: Client, name: string): Promise<Omit<PostgresFindings, "canListen">> {
  const { rows } = await client.query<Setting>(settingsSql);
  const { number, version, encoding, commit, fsync, isStandby, mayWrite } = rows[0]!;
  const problems = [
    number < oldestVersion * 10_000 &&
      `The database ${name} is PostgreSQL ${version}; ${oldestVersion} is the oldest that works.`,
    encoding !== "UTF8" && `The database ${name} has the encoding ${encoding}; make one with UTF8.`,
    isStandby && `The database ${name} is a standby that takes no writes. Name the primary.`,
    !mayWrite &&
      `The role may make no tables in the database ${name}. Let it own the database: ALTER DATABASE ... OWNER TO ...`,
  ];
  const warnings = [
    commit === "off" &&
      "synchronous_commit is off for this database: what was acknowledged can be lost with the power",
    fsync === "off" && "fsync is off for this database: the power can destroy all of it",
  ];
  return {
    version,
    problems: problems.filter((problem) => problem !== false),
    warnings: warnings.filter((warning) => warning !== false),
  };
}

type Setting = {
  readonly number: number;
  readonly version: string;
  readonly encoding: string;
  readonly commit: string;
  readonly fsync: string;
  readonly isStandby: boolean;
  readonly mayWrite: boolean;
};

const settingsSql = `
  SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version,
    getdatabaseencoding() AS encoding, current_setting('synchronous_commit') AS commit, current_setting('fsync') AS fsync,
    pg_is_in_recovery() AS "isStandby",
    coalesce(has_schema_privilege(to_regnamespace('convoke')::oid, 'CREATE'),
      has_database_privilege(current_database(), 'CREATE')) AS "mayWrite"`;

async function connect(place: PostgresPlace): Promise<Client> {
  const name = describePlace(place);
  try {
    return await openConnection({ url: place.url, name: "convoke check" });
  } catch (error) {
    throw new ConfigError(`The database ${name} cannot be used: ${reasonOf(error)}.`, { cause: error });
  }
}

/** For people; several addresses of one name fail together and say nothing then. */
function reasonOf(error: unknown): string {
  if (error instanceof DatabaseError) return error.message.replace(/\.$/, "");
  if (error instanceof DatabaseUnavailableError) return reasonOf(error.cause);
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ECONNREFUSED" || code === "ENOENT") return "nobody listens there";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "there is no machine of that name";
  if (code === "ETIMEDOUT" || message === "timeout expired") return "it does not answer";
  return code ?? message;
}
