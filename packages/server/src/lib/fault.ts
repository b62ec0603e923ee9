/**
 * Who must act on a failure, and how: the caller (correct the request, authenticate, use another id, retry), or us
 * (`bug`).
 */
export type FaultKind =
  | "caller"
  | "unusable"
  | "stranger"
  | "missing"
  | "wrong-method"
  | "refused"
  | "conflict"
  | "gone"
  | "too-many"
  | "not-now"
  | "bad-gateway"
  | "timeout"
  | "too-large"
  | "no-upgrade"
  | "no-range"
  | "bug";

/** One mistake in a request, with its position. `loc` begins with `path`, `query`, `header` or `body`. */
export type FieldFault = { readonly loc: (string | number)[]; readonly msg: string; readonly type: string };

/**
 * A failure that crosses the wire: `code` is stable and documented, the message is one plain sentence without secrets
 * that names the fix. Anything else that is thrown is a bug and becomes a 500.
 */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly kind: FaultKind;
  readonly code: string;
  readonly fields: readonly FieldFault[];
  /** When the same request may succeed, where that is known. */
  readonly retryAfterSeconds: number | undefined;
  /** Further fields of the reply, for programs. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(
    kind: FaultKind,
    code: string,
    message: string,
    fields: readonly FieldFault[] = [],
    options: ErrorOptions & { readonly retryAfterSeconds?: number; readonly facts?: Fault["facts"] } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.code = code;
    this.fields = fields;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.facts = options.facts ?? {};
  }
}

/** A request field with a value that cannot be used. */
export function invalidField(loc: (string | number)[], msg: string, type = "value_error"): Fault {
  return new Fault("caller", "validation", `${loc.join(".")}: ${msg}`, [{ loc, msg, type }]);
}
