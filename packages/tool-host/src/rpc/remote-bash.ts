import type { Bash, BashEntry } from "../bash/bash.ts";
import { ConnectionLostError } from "./connection-errors.ts";
import { fromJsonLines } from "./json-lines.ts";
import type { Link } from "./link.ts";

/** The commands of a host in another process. Every request is repeated when the connection breaks; nothing starts twice. */
export function createRemoteBash(link: Link): Bash {
  return {
    start: async (request) => link.run(async (connection) => connection.request("bashStart", { request })),
    result: async (owner, commandId, signal) =>
      link.run(async (connection) =>
        connection.request("bashResult", { owner, commandId }, signal === undefined ? {} : { signal }),
      ),
    stop: async (owner, commandId) =>
      link.run(async (connection) => connection.request("bashStop", { owner, commandId })),
    search: async (query) => link.run(async (connection) => connection.request("bashSearch", { query })),
    get: async (owner, ids) => link.run(async (connection) => connection.request("bashGet", { owner, ids })),
    clear: async (owner) => link.run(async (connection) => connection.request("bashClear", { owner })),
    lastSeq: async () => link.run(async (connection) => connection.request("bashLastSeq", {})),
    follow: (owner, afterSeq, signal) => followRemote(link, owner, afterSeq, signal),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** After a broken connection it continues after the last entry it yielded. */
async function* followRemote(
  link: Link,
  owner: string,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<readonly BashEntry[], void, undefined> {
  let cursor = afterSeq;
  while (!signal.aborted) {
    const { content } = await link.run(async (connection) =>
      connection.requestStream("bashFollow", { owner, afterSeq: cursor }),
    );
    const onAbort = (): void => void content.destroy();
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    try {
      for await (const entries of fromJsonLines<BashEntry[]>(content)) {
        cursor = entries.at(-1)?.seq ?? cursor;
        yield entries;
      }
    } catch (error) {
      // A repeated request finds out whether the host is lost for good.
      if (!signal.aborted && !(error instanceof ConnectionLostError)) throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
      content.destroy();
    }
  }
}
