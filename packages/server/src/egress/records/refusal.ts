import type { RefusalReason } from "../egress.ts";
import { formatTarget, type Target } from "../../lib/host-name.ts";
import type { Verdict } from "../policy/egress-policy.ts";

/** Why something does not pass. The sentence is ASCII without control characters, because HTTP's reason phrase carries it. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly target: Target;
  readonly reason: RefusalReason;
  /** The sentences behind the target. */
  readonly why: string;

  constructor(target: Target, reason: RefusalReason, why: string) {
    const bounded = bound(why);
    super(toAscii(`${formatTarget(target)} was refused: ${bounded}`));
    this.why = bounded;
    this.target = target;
    this.reason = reason;
  }

  /** True when nothing at all may be sent there. */
  get isOfHost(): boolean {
    return this.reason === "no-rule" || this.reason === "denied";
  }
}

/** A host that is allowed and cannot be reached. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
  readonly status: 502 | 504;

  constructor(target: Target, status: 502 | 504, why: string, options: ErrorOptions = {}) {
    super(toAscii(`${formatTarget(target)} could not be reached: ${bound(why)}`), options);
    this.status = status;
  }
}

/** The client left before its request was whole. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";

  constructor() {
    super("The client ended its request early.");
  }
}

/** False for what clients, hosts and networks do. Node gives all of that a code, and its own complaints about wrong calls one of these. */
export function isUnexpected(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  if (error instanceof Refused || error instanceof Unreachable || error instanceof ClientGone) return false;
  const code = "code" in error ? String(error.code) : "ERR_INVALID_ARG";
  return /^ERR_INVALID_(?:ARG|STATE|THIS)|^ERR_METHOD_NOT_IMPLEMENTED/.test(code);
}

const sources = {
  server: "The server's network policy",
  user: "The network policy of this user",
  project: "The network policy of this project",
  conversation: "This conversation's network policy",
} as const;

export function refuseByPolicy(target: Target, verdict: Extract<Verdict, { isAllowed: false }>): Refused {
  const source = sources[verdict.source];
  if (verdict.reason === "denied") return new Refused(target, "denied", `${source} denies ${verdict.rule}.`);
  const help =
    verdict.source === "conversation"
      ? " Ask for it with request_network."
      : " Only the operator of the server can change that.";
  return new Refused(target, "no-rule", `${source} has no rule that allows it.${help}`);
}

export function refuseAddress(target: Target, reason: "private-address" | "own-listener"): Refused {
  return reason === "own-listener"
    ? new Refused(target, reason, "The server itself listens there.")
    : new Refused(target, reason, "Its address is not a public one. A policy can list the host as private.");
}

/** What to answer to whatever was thrown on the way. */
export function answerTo(error: unknown): {
  readonly status: 403 | 502 | 503 | 504;
  readonly sentence: string;
} {
  if (error instanceof Refused)
    return { status: error.reason === "too-many-connections" ? 503 : 403, sentence: error.message };
  if (error instanceof Unreachable) return { status: error.status, sentence: error.message };
  return { status: 502, sentence: "The host ended the connection before its answer was complete." };
}

/** A program inside chooses names of headers, and a host what stands in its certificate. */
const maxWhyChars = 400;

function bound(why: string): string {
  return why.length > maxWhyChars ? `${why.slice(0, maxWhyChars)}...` : why;
}

function toAscii(text: string): string {
  return text.replaceAll(/[^\u0020-\u007e]/gu, "?");
}
