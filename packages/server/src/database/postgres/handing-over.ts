import type { QueryResult } from "pg";

/**
 * The same function of the driver, whose answers hand their rows over and keep none. The driver's promise of an answer can be reached from
 * what is left of its query for longer than the young heap is collected: with the rows in it, whole pages became old, and only a collection
 * of everything found that nobody needs them.
 */
export function handingOver(ask: (...given: unknown[]) => unknown): (...given: unknown[]) => unknown {
  return (...given) => {
    const answer = ask(...given);
    return answer instanceof Promise ? answer.then(handedOver) : answer;
  };
}

/** Several statements in one text have several results. */
function handedOver(result: unknown): unknown {
  if (Array.isArray(result)) return result.map(handedOver);
  if (typeof result !== "object" || result === null || !("rows" in result)) return result;
  const driven = result as QueryResult;
  const { command, rowCount, oid, fields, rows } = driven;
  driven.rows = [];
  return { command, rowCount, oid, fields, rows };
}
