import type { ClientRequest } from "node:http";
import { Unreachable } from "../records/refusal.ts";
import type { Origin } from "./forward-context.ts";

/**
 * Resolves with what `listen` takes for the head of the answer. Rejects with {@link Unreachable} when the host is silent for as long as
 * `outgoing` allows, or ends the connection before.
 */
export async function untilAnswered<Head>(
  outgoing: ClientRequest,
  { target }: Origin,
  listen: (resolve: (head: Head) => void) => void,
): Promise<Head> {
  const { promise, resolve, reject } = Promise.withResolvers<Head>();
  listen(resolve);
  outgoing.once("timeout", () =>
    outgoing.destroy(new Unreachable(target, 504, "It was silent for too long.")),
  );
  outgoing.on("error", reject);
  outgoing.once("close", () =>
    reject(new Unreachable(target, 502, "It ended the connection without an answer.")),
  );
  return promise;
}
