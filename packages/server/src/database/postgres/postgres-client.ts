import { Client, DatabaseError, type ClientConfig } from "pg";
import { DatabaseUnavailableError } from "../../lib/database-unavailable.ts";
import { describeError } from "../../lib/describe-error.ts";
import { handingOver } from "./handing-over.ts";
import type { Timeline } from "./timeline.ts";

export type ConnectionOptions = {
  readonly url: string;
  /** Shown in the server's list of connections. */
  readonly name: string;
  /** Told of the connection before it is used. */
  readonly timeline?: Timeline | undefined;
};

export type PostgresClientConfig = ClientConfig & {
  /** A connection is closed when an answer takes longer; without an end when not given. */
  readonly answerMs?: number;
};

/** How long to wait for a connection to end, in milliseconds. */
const farewellMs = 2000;

/**
 * A connection whose failures tell a database that is unavailable from one that refuses a statement. One that was given up on a statement is used
 * no more: its answer may still come, and nobody knows whether a transaction has begun by then.
 */
export class PostgresClient extends Client {
  /** True once it is known that one process of the database answers all along: no other one has the statements that were prepared there. */
  #keepsStatements = false;

  constructor(config?: string | PostgresClientConfig) {
    super(config);
    const { answerMs } = typeof config === "object" ? config : {};
    // A pending query rejects by itself; an `error` event without a listener would end the process.
    this.on("error", () => {});
    this.connect = classifyingErrors(this.connect.bind(this)) as Client["connect"];
    const watch = answerMs === undefined ? unwatched : () => this.#breakOffAfter(answerMs);
    const ask = handingOver(classifyingErrors(this.query.bind(this), watch));
    this.query = ((what: unknown, ...rest: unknown[]) =>
      ask(this.#keepsStatements ? what : unnamed(what), ...rest)) as Client["query"];
    const leave = this.end.bind(this) as (onEnd?: () => void) => Promise<void>;
    this.end = ((onEnd?: () => void) => {
      this.once("end", this.#breakOffAfter(farewellMs));
      return leave(onEnd);
    }) as Client["end"];
  }

  /** Call once it is connected: from then on statements with a name are prepared, unless a pooler is on the way. */
  async learnWhoAnswers(): Promise<void> {
    this.#keepsStatements = !(await isPooled(this));
  }

  /** Unless what is returned is called before. */
  #breakOffAfter(afterMs: number): () => void {
    const late = setTimeout(() => this.connection.stream.destroy(), afterMs).unref();
    return () => clearTimeout(late);
  }
}

/** Whether somebody between here and the database answers for it: the process that answers is not the one that greeted. */
export async function isPooled(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  // The driver keeps what it was greeted with, and its types do not say so.
  return rows[0]?.pid !== (client as Client & { readonly processID: number }).processID;
}

/** What is asked, prepared under no name. */
function unnamed(what: unknown): unknown {
  if (typeof what !== "object" || what === null || !("name" in what)) return what;
  const { name: _, ...rest } = what;
  return rest;
}

/**
 * The same function of the driver, which answers by a promise or by a callback that is its last argument. `watch` is called when something is
 * asked, and what it returns once that is answered.
 */
export function classifyingErrors(
  ask: (...given: never[]) => unknown,
  watch: () => () => void = unwatched,
): (...given: unknown[]) => unknown {
  return (...given) => {
    const last = given.at(-1);
    if (typeof last === "function") {
      let isAnswered = false;
      let onAnswer = unwatched();
      const onSettled = (error: unknown, ...rest: unknown[]): unknown => {
        isAnswered = true;
        onAnswer();
        return last(isNothing(error) ? error : toClassified(error), ...rest);
      };
      const answer = ask(...([...given.slice(0, -1), onSettled] as never[]));
      // A pool that has ended answers at once.
      if (!isAnswered) onAnswer = watch();
      return answer;
    }
    const answer = ask(...(given as never[]));
    if (!(answer instanceof Promise)) return answer;
    return answer.finally(watch()).catch((error: unknown) => {
      throw toClassified(error);
    });
  };
}

const unwatched = (): (() => void) => () => {};

function isNothing(error: unknown): boolean {
  return error === undefined || error === null;
}

function toClassified(error: unknown): unknown {
  if (!isUnavailable(error)) return error;
  return new DatabaseUnavailableError(`The database is unavailable: ${describeError(error)}`, {
    cause: error,
  });
}

/** Whatever the driver says that is no answer of a server is about the way to it, but for values that have no form. */
function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError) return unavailableCodes.test(error.code ?? "");
  return (
    error instanceof Error &&
    !(error instanceof DatabaseUnavailableError || error instanceof TypeError || error instanceof RangeError)
  );
}

/** The connection broke; it is starting or stopping; no connection is left; it became a standby. */
const unavailableCodes = /^(?:08|57P0|53300|25006)/;
