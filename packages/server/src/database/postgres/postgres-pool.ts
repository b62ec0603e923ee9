import { Pool, types, type CustomTypesConfig, type PoolClient, type PoolConfig } from "pg";
import { handingOver } from "./handing-over.ts";
import {
  classifyingErrors,
  PostgresClient,
  type ConnectionOptions,
  type PostgresClientConfig,
} from "./postgres-client.ts";
import type { Timeline } from "./timeline.ts";

export type PoolOptions = ConnectionOptions & {
  readonly size: number;
  /** How long an answer is waited for; half a minute when not given. */
  readonly answerMs?: number | undefined;
};

/** A statement that takes longer is given up, and its connection with it. */
const longestAnswerMs = 30_000;

/** Connections whose numbers are numbers. A failure of an idle one is reported to `onFailure` alone. */
export function openPool(
  { url, name, size, timeline, answerMs = longestAnswerMs }: PoolOptions,
  onFailure: (error: Error) => void,
): Pool {
  const config: PoolConfig & PostgresClientConfig = {
    connectionString: url,
    application_name: name,
    max: size,
    Client: PostgresClient,
    verify: (client, done) => {
      void learn(client, timeline, done);
    },
    types: plainTypes,
    answerMs,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
  };
  const pool = new Pool(config);
  pool.on("error", onFailure);
  // It waits for a connection itself.
  pool.connect = classifyingErrors(pool.connect.bind(pool)) as Pool["connect"];
  // A connection that breaks during a statement notifies the pool before the statement rejects.
  pool.query = handingOver(classifyingErrors(pool.query.bind(pool))) as Pool["query"];
  return pool;
}

/** A connection that cannot say who answers is not used. */
async function learn(
  client: PoolClient,
  timeline: Timeline | undefined,
  done: (error?: Error) => void,
): Promise<void> {
  let failure: Error | undefined;
  try {
    if (client instanceof PostgresClient) await client.learnWhoAnswers();
    await timeline?.note(client);
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
  }
  done(failure);
}

/** Numbers are numbers. */
export const plainTypes: CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    if (format !== "binary" && oid === types.builtins.INT8) return toSafeInteger;
    if (format !== "binary" && oid === types.builtins.NUMERIC) return Number;
    return types.getTypeParser(oid, format);
  },
};

/** Throws a RangeError rather than answer another number. */
function toSafeInteger(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  throw new RangeError(`${text} is beyond what can be counted exactly`);
}
