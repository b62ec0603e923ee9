import type { PutIn } from "../policy/read-only.ts";
import { readOnlyProblem } from "../policy/read-only.ts";
import { Refused } from "../records/refusal.ts";
import { type Allowed, decide, type ForwardContext, type Origin } from "./forward-context.ts";
import { authorityOf, type Header, ofMessage } from "../policy/headers.ts";

/** A request as it came in. */
export type GivenRequest = {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: readonly Header[];
  readonly isUpgrade: boolean;
};

/** A request as it goes out, without the headers of the connection and of HTTP/2. */
export type PreparedRequest = {
  readonly allowed: Allowed;
  readonly path: string;
  readonly headers: readonly Header[];
  /** The value of `Host` or `:authority`. */
  readonly authority: string;
  /** Names of the secrets that were put in. */
  readonly secrets: readonly string[];
};

const nothing: PutIn = { headers: new Set(), elsewhere: false };

/** Checks a request. Throws `Refused`. */
export function prepareRequest(
  context: ForwardContext,
  { target, isSecure }: Origin,
  request: GivenRequest,
): PreparedRequest {
  const allowed = decide(context.policy, target);
  if (allowed.isReadOnly) {
    const problem = readOnlyProblem({ ...request, host: target.host }, nothing);
    if (problem !== null) throw new Refused(target, "read-only", problem);
  }
  const headers = ofMessage(request.headers).filter(([name]) => name.toLowerCase() !== "host");
  return { allowed, path: request.path, headers, authority: authorityOf(target, isSecure), secrets: [] };
}
