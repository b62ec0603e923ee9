import { Client } from "pg";

/**
 * Databases for one test after the other: making one takes half a second, emptying one some milliseconds. A database is used again
 * when the test that took it has ended and nothing is connected to it. A test that changes tables or versions needs one of its own.
 */
export class ReusedDatabases {
  readonly #create: () => Promise<string>;
  readonly #free: string[] = [];
  readonly #ofFile: string[] = [];
  readonly #ofTest: string[] = [];
  #isInTest = false;

  /** `create` makes a database and gives its URL. */
  constructor(create: () => Promise<string>) {
    this.#create = create;
  }

  /** The URL of a database that holds no rows. It may have the tables of a server already. */
  async take(): Promise<string> {
    const url = (await this.#takeFree()) ?? (await this.#create());
    (this.#isInTest ? this.#ofTest : this.#ofFile).push(url);
    return url;
  }

  /** What is taken from now on is free at the end of this test. */
  beginTest(): void {
    this.#isInTest = true;
  }

  endTest(): void {
    this.#isInTest = false;
    this.#free.push(...this.#ofTest.splice(0));
  }

  /** What was taken outside of the tests of the file is free too. */
  endFile(): void {
    this.#free.push(...this.#ofFile.splice(0));
  }

  async #takeFree(): Promise<string | null> {
    for (const url of this.#free) {
      if (!(await empty(url))) continue;
      this.#free.splice(this.#free.indexOf(url), 1);
      return url;
    }
    return null;
  }
}

/** False, and nothing is changed, when others are connected to the database. */
async function empty(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const others = await client.query(
      `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
    );
    if (others.rows.length > 0) return false;
    await client.query(emptying);
    return true;
  } finally {
    await client.end();
  }
}

/** Tables stay, with the versions of their schema. A trigger writes to table_versions, which is therefore emptied last. */
const emptying = `DO $$
DECLARE
  one record;
  has_rows boolean;
BEGIN
  FOR one IN
    SELECT format('convoke.%I', tablename) AS name FROM pg_tables
      WHERE schemaname = 'convoke' AND tablename NOT IN ('parts', 'kysely_migration', 'kysely_migration_lock')
      ORDER BY tablename = 'table_versions'
  LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %s)', one.name) INTO has_rows;
    IF has_rows THEN EXECUTE format('TRUNCATE %s CASCADE', one.name); END IF;
  END LOOP;
  FOR one IN
    SELECT format('convoke.%I', sequencename) AS name FROM pg_sequences
      WHERE schemaname = 'convoke' AND last_value IS NOT NULL
  LOOP
    PERFORM setval(one.name, 1, false);
  END LOOP;
END $$`;
