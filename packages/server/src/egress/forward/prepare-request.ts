import type { Readable } from "node:stream";
import type { BoundSecret } from "../egress.ts";
import { authorityOf, type Header, isText, ofMessage, valueOf, without } from "../policy/headers.ts";
import { readOnlyProblem } from "../policy/read-only.ts";
import { type Allowed, decide } from "../records/decide.ts";
import { Refused } from "../records/refusal.ts";
import { createEchoMask, type EchoMask } from "./echo-mask.ts";
import type { ForwardContext, Origin } from "./forward-context.ts";
import { injectBody, injectHead, maxInjectedBodyBytes } from "./inject.ts";
import { readBody } from "./read-body.ts";

/** A request as it came in. */
export type GivenRequest = {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: readonly Header[];
  readonly isUpgrade: boolean;
  /** Null without a body. */
  readonly body: Readable | null;
  /** Called before the body is read, for a client that waits for the order to send it. */
  readonly askForBody: () => unknown;
};

/** A request as it goes out, without the headers of the connection and of HTTP/2. */
export type PreparedRequest = {
  readonly allowed: Allowed;
  /** Throws `Refused` when the policies do not allow the request any more. */
  readonly check: () => void;
  readonly path: string;
  readonly headers: readonly Header[];
  /** The value of `Host` or `:authority`. */
  readonly authority: string;
  /** What was sent in place of the body; null where that is copied. */
  readonly body: Buffer | null;
  /** Names of the secrets that were put in. */
  readonly secrets: readonly string[];
  /** Null when nothing was put in. */
  readonly mask: EchoMask | null;
};

/** Checks a request and puts secrets in. Throws `Refused`. */
export async function prepareRequest(
  context: ForwardContext,
  { target, isSecure }: Origin,
  request: GivenRequest,
): Promise<PreparedRequest> {
  decide(context.policy, target);
  // Anybody on the way of a plain connection could read the value.
  const secrets = isSecure ? context.secretsFor(target) : [];
  const given = without(ofMessage(request.headers), "host");
  const injected = injectHead(target, secrets, given, request.path);
  const body = await prepareBody(request, secrets);
  const used = new Set([...injected.used, ...(body?.used ?? [])]);
  const putIn = { headers: injected.inHeaders, elsewhere: injected.isInQuery || (body?.used.size ?? 0) > 0 };
  const problem = readOnlyProblem({ ...request, host: target.host, mayLogIn: secrets.length > 0 }, putIn);
  const check = (): Allowed => {
    const allowed = decide(context.policy, target);
    if (allowed.isReadOnly && problem !== null) throw new Refused(target, "read-only", problem);
    return allowed;
  };
  return {
    // After the body was read: the policies may be others by now.
    allowed: check(),
    check,
    path: injected.path,
    headers: prepareHeaders(injected.headers, used.size > 0, body !== null),
    authority: authorityOf(target, isSecure),
    body: body?.bytes ?? null,
    secrets: [...used].map(({ name }) => name),
    mask: createEchoMask(used),
  };
}

function prepareHeaders(
  headers: readonly Header[],
  isInjected: boolean,
  isBodyRead: boolean,
): readonly Header[] {
  const own = isBodyRead ? without(headers, "content-length", "expect") : headers;
  // An answer must be readable to be searched for the value, and whole: parts of it have parts of the value.
  return isInjected
    ? [...without(own, "accept-encoding", "range", "if-range"), ["Accept-Encoding", "identity"]]
    : own;
}

/** Null where the body is copied. */
async function prepareBody(
  { body, headers, askForBody }: GivenRequest,
  secrets: readonly BoundSecret[],
): Promise<{ readonly bytes: Buffer; readonly used: ReadonlySet<BoundSecret> } | null> {
  const inBody = secrets.filter((secret) => secret.as.includes("body"));
  const isEncoded = (valueOf(headers, "content-encoding") ?? "identity") !== "identity";
  const isLarge = Number(valueOf(headers, "content-length") ?? 0) > maxInjectedBodyBytes;
  // Of any other type it may be a stream without an end, as of gRPC.
  const isTextBody = isText(valueOf(headers, "content-type") ?? "");
  if (body === null || inBody.length === 0 || isEncoded || isLarge || !isTextBody) return null;
  askForBody();
  const whole = await readBody(body, maxInjectedBodyBytes);
  if (whole === null) return null;
  const changed = injectBody(whole, valueOf(headers, "content-type") ?? "", inBody);
  return { bytes: changed?.body ?? whole, used: changed?.used ?? new Set() };
}
