import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, DatabaseError, escapeIdentifier } from "pg";

/** A PostgreSQL server for one test file. Disposing it ends and removes it. */
export type TestPostgres = AsyncDisposable & {
  /** URL of a role that may create databases. */
  readonly url: string;
  /** The URL of a fresh database: empty, or a copy of what `prepare` created. Its role owns it and has no other rights. */
  createDatabase(): Promise<string>;
  /** False for a given server: it is not stopped. */
  readonly isOurs: boolean;
  /** Ends the server like a crash. Only for a server of ours. */
  halt(): Promise<void>;
  /** Restarts it on its files. */
  resume(): Promise<void>;
  /**
   * Creates a standby that streams from it over another address; it has all that was committed before the call. `moved` are folders of
   * tablespaces, each with an empty one of the standby. Only for a server that was started with {@link standbySettings}.
   */
  addStandby(url: string, moved: readonly (readonly [from: string, to: string])[]): Promise<void>;
  /** Ends it like {@link halt}, and promotes the standby. */
  failOver(): Promise<void>;
};

type PostgresProbe = {
  readonly isUsable: boolean;
  /** A running server that is not ours to stop. */
  readonly isGiven: boolean;
  readonly detail: string;
};

/** Whether {@link startPostgres} can work here; `detail` says what is missing, for the name of a skipped test. */
export function probePostgres(): PostgresProbe {
  const given = process.env[givenServer];
  if (given !== undefined) return { isUsable: true, isGiven: true, detail: givenServer };
  const programs = findPrograms();
  if (programs === null)
    return {
      isUsable: false,
      isGiven: false,
      detail: "postgresql is not installed: apt-get install postgresql",
    };
  return { isUsable: true, isGiven: false, detail: programs };
}

/**
 * Uses a given server, such as that of `CONVOKE_TEST_DATABASE` (a URL whose role may create databases), or starts one of its own with what
 * Debian installs, with `settings`, which are for tests unless given. `prepare` fills the database that all others are copied from; it must close its connections.
 */
export async function startPostgres(
  prepare?: (url: string) => Promise<void>,
  given: string | undefined = process.env[givenServer],
  settings: readonly string[] = quickSettings,
): Promise<TestPostgres> {
  const server = given === undefined ? await startServer(settings) : givenServerAt(given);
  const made: string[] = [];
  const create = async (template: string): Promise<{ name: string; url: string }> => {
    const name = `test_${randomUUID().replaceAll("-", "")}`;
    const owner = server.role === null ? "" : `OWNER ${server.role}`;
    await run(server.url, `CREATE DATABASE ${name} ${owner} TEMPLATE ${escapeIdentifier(template)}`);
    made.push(name);
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    if (server.role !== null) url.username = server.role;
    return { name, url: url.href };
  };
  const stop = async (): Promise<void> => {
    try {
      // A server that is started here is removed as a whole.
      if (given !== undefined)
        for (const name of made) await run(server.url, `DROP DATABASE ${name} WITH (FORCE)`);
    } finally {
      await server.stop();
    }
  };
  try {
    let template = "template0";
    if (prepare !== undefined) {
      const { name, url } = await create(template);
      await prepare(url);
      template = name;
    }
    return {
      url: server.url,
      createDatabase: async () => (await create(template)).url,
      isOurs: given === undefined,
      halt: server.halt,
      resume: server.resume,
      addStandby: server.addStandby,
      failOver: server.failOver,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Settings that survive a crash of the server, but not of the machine. Several workers have several servers with two pools each. */
const quickSettings = ["fsync=off", "full_page_writes=off", "shared_buffers=32MB", "max_connections=300"];

/** The same for a server with a standby, for which it does not wait. */
export const standbySettings: readonly string[] = [
  ...quickSettings,
  "wal_level=replica",
  "max_wal_senders=4",
];

const givenServer = "CONVOKE_TEST_DATABASE";

/** The folder of the newest version's programs. */
function findPrograms(): string | null {
  const root = "/usr/lib/postgresql";
  if (!existsSync(root)) return null;
  const folders = readdirSync(root)
    .toSorted((one, other) => Number(other) - Number(one))
    .map((version) => join(root, version, "bin"));
  return folders.find((folder) => existsSync(join(folder, "postgres"))) ?? null;
}

type Server = Pick<TestPostgres, "url" | "halt" | "resume" | "addStandby" | "failOver"> & {
  readonly role: string | null;
  stop(): Promise<void>;
};

function givenServerAt(url: string): Server {
  const refuse = async (): Promise<void> => {
    throw new Error("A server that is given is not stopped");
  };
  const refused = { halt: refuse, resume: refuse, addStandby: refuse, failOver: refuse };
  return { url, role: null, ...refused, stop: async () => {} };
}

/**
 * The shell that holds the server ends it and removes its folder when its standard input closes, so nothing is left even when this
 * process is killed. Texts are ordered by a language's collation, so that a missing `COLLATE "C"` is noticed.
 */
const script = `
  folder=$1 programs=$2 settings=$3 data=$1/data number=0 standby=
  trap 'rm -rf "$folder"' EXIT
  "$programs/initdb" --pgdata="$folder/data" --username=postgres --auth=trust --encoding=UTF8 --no-sync \\
    --locale=C.UTF-8 --locale-provider=icu --icu-locale=en-US >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
  launch() {
    "$programs/postgres" -D "$1" -c listen_addresses= -c unix_socket_directories="$2" \\
      -c wal_level=minimal -c max_wal_senders=0 $settings >>"$folder/log" 2>&1 &
  }
  start() {
    launch "$data" "$folder"
    server=$!
  }
  halt() {
    kill -QUIT "$server"
    wait "$server"
  }
  add() {
    number=$((number + 1))
    next=$folder/standby$number
    mkdir "$next"
    "$programs/pg_basebackup" --host="$1" --username=postgres --pgdata="$next/data" --write-recovery-conf \\
      --checkpoint=fast --no-sync $2 >>"$folder/log" 2>&1 || { tail -n 20 "$folder/log" >&2; echo failed; return; }
    launch "$next/data" "$next"
    standby=$!
    echo added
  }
  replace() {
    halt
    "$programs/pg_ctl" promote --silent --wait --pgdata="$next/data" >>"$folder/log" 2>&1
    rm -rf "$data" "$folder/.s.PGSQL.5432"
    ln -s "$next/.s.PGSQL.5432" "$folder/.s.PGSQL.5432"
    data=$next/data server=$standby standby=
    echo replaced
  }
  start
  while read -r word first second; do
    case "$word" in
      halt) halt; echo halted ;;
      start) start ;;
      standby) add "$first" "$second" ;;
      replace) replace ;;
    esac
  done
  if [ -n "$standby" ]; then kill -QUIT "$standby"; wait "$standby"; fi
  halt`;

async function startServer(settings: readonly string[]): Promise<Server> {
  const programs = findPrograms();
  if (programs === null) throw new Error(probePostgres().detail);
  const folder = mkdtempSync(join(tmpdir(), "convoke-postgres-"));
  // The server refuses to run as root.
  const user = process.getuid?.() === 0 ? findDatabaseUser() : null;
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const shell = spawn(
    "/bin/sh",
    ["-c", script, "sh", folder, programs, settings.map((one) => `-c ${one}`).join(" ")],
    {
      cwd: folder,
      env: { PATH: process.env["PATH"] },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
      ...user,
    },
  );
  const complaint: string[] = [];
  shell.stderr.setEncoding("utf8").on("data", (text: string) => complaint.push(text));
  // The shell may have ended before its input is closed.
  shell.stdin.on("error", () => {});
  const stop = async (): Promise<void> => {
    if (hasEnded(shell)) return;
    const ended = once(shell, "exit");
    shell.stdin.end();
    await ended;
  };
  const url = `postgres://postgres@localhost/postgres?host=${encodeURIComponent(folder)}`;
  const starting = async (): Promise<void> =>
    await answering(url, () => {
      if (hasEnded(shell)) throw new Error(`PostgreSQL did not start: ${complaint.join("")}`);
    });
  try {
    await starting();
    await run(url, "CREATE ROLE convoke LOGIN");
    const order = async (words: string): Promise<void> => {
      const answered = once(shell.stdout, "data");
      shell.stdin.write(`${words}\n`);
      if (String(await answered).trim() === "failed") throw new Error(complaint.join(""));
    };
    return {
      url,
      role: "convoke",
      halt: () => order("halt"),
      addStandby: async (way, moved) => {
        const host = new URL(way).searchParams.get("host") ?? "";
        const mapping = moved.map(([from, to]) => `--tablespace-mapping=${from}=${to}`);
        await order(`standby ${host} ${mapping.join(" ")}`);
        await untilReplayed(url);
      },
      failOver: async () => {
        await order("replace");
        await starting();
      },
      resume: async () => {
        shell.stdin.write("start\n");
        await starting();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The user of the server if this process is root. */
export function findDatabaseUser(): { readonly uid: number; readonly gid: number } {
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of ["postgres", "nobody"]) {
    const fields = lines.find((line) => line.startsWith(`${name}:`))?.split(":");
    if (fields !== undefined) return { uid: Number(fields[2]), gid: Number(fields[3]) };
  }
  throw new Error("PostgreSQL does not run as root, and there is neither a user postgres nor nobody");
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Resolves when the server accepts connections; rejects after a minute. */
async function answering(url: string, check: () => void): Promise<void> {
  const deadlineMs = performance.now() + 60_000;
  for (;;) {
    try {
      return await run(url, "SELECT 1");
    } catch (error) {
      check();
      if (performance.now() > deadlineMs || !isEarly(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** No socket yet, or the server is starting. */
function isEarly(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.code === "57P03";
  return error instanceof Error && "code" in error && ["ENOENT", "ECONNREFUSED"].includes(String(error.code));
}

/** Resolves when a standby has what is committed now. */
async function untilReplayed(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const now = await client.query<{ place: string }>("SELECT pg_current_wal_lsn() AS place");
    const deadlineMs = performance.now() + 60_000;
    for (;;) {
      const { rows } = await client.query("SELECT FROM pg_stat_replication WHERE replay_lsn >= $1", [
        now.rows[0]!.place,
      ]);
      if (rows.length > 0) return;
      if (performance.now() > deadlineMs) throw new Error("The standby does not follow");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    await client.end();
  }
}

async function run(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    await client.query(statement);
  } finally {
    await client.end();
  }
}
