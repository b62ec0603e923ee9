/** What is read of anything that an attempt threw. */
export type Report = {
  readonly status: number | null;
  readonly name: string;
  /** Codes and types as the provider spells them, for matching. */
  readonly codes: string;
  readonly message: string;
  /** The field that the provider blames; empty where it names none. */
  readonly param: string;
  readonly headers: Headers | null;
  readonly isOurs: boolean;
};

/** Both SDKs throw errors with `status`, `headers` and the parsed body in `error`; fetch hides its reason in `cause`. */
export function readReport(thrown: unknown): Report {
  if (!(thrown instanceof Error)) {
    return {
      status: null,
      name: "",
      codes: "",
      message: String(thrown),
      param: "",
      headers: null,
      isOurs: true,
    };
  }
  const fields = thrown as Error & { status?: unknown; headers?: unknown; error?: unknown };
  const body = readBody(fields.error);
  const status = typeof fields.status === "number" ? fields.status : body.status;
  const causes = [...causesOf(thrown)];
  const isFromProvider = "status" in thrown || body.codes !== "";
  const isTransport =
    isFromProvider ||
    causes.some((cause) => "code" in cause) ||
    thrown instanceof SyntaxError ||
    isCut(thrown);
  return {
    status,
    name: thrown.name,
    codes: body.codes,
    message: body.message || causes.map(describe).join(": "),
    param: body.param,
    headers: fields.headers instanceof Headers ? fields.headers : null,
    isOurs: !isTransport,
  };
}

function isCut(error: Error): boolean {
  return error.name === "TimeoutError" || /terminated|fetch failed|premature|aborted/iu.test(error.message);
}

function* causesOf(error: Error): Generator<Error> {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1)
    yield at;
}

function describe(error: Error): string {
  const code = (error as Error & { code?: unknown }).code;
  const message =
    error instanceof SyntaxError ? "the answer is broken JSON" : error.message.replace(/\.$/u, "");
  // What an SDK writes where the provider said nothing.
  if (/^\d{3} \{.*"message":""\}+$/u.test(message)) return "";
  return typeof code === "string" && !message.includes(code) ? `${message} ${code}`.trim() : message;
}

type Body = Pick<Report, "status" | "codes" | "message" | "param">;

/** An error body is `{error: {message, type, code}}` or that inner object, or text; gateways nest the original. */
function readBody(body: unknown): Body {
  const none = { status: null, codes: "", message: "", param: "" };
  if (typeof body === "string") return { ...none, codes: "text", message: body };
  if (typeof body !== "object" || body === null) return none;
  const record = body as Record<string, unknown>;
  if (typeof record["error"] === "object" && record["error"] !== null) return readBody(record["error"]);
  const metadata = record["metadata"] as { raw?: unknown } | undefined;
  const message = [record["message"], record["error"], record["detail"], metadata?.raw]
    .map((part) => (typeof part === "object" && part !== null ? JSON.stringify(part) : part))
    .filter((part) => typeof part === "string")
    .join(" ");
  const codes = [record["type"], record["code"], record["status"]]
    .map((part) => (typeof part === "string" || typeof part === "number" ? part.toString() : ""))
    .join(" ");
  const code = Number(record["code"]);
  return {
    status: statusOfType(String(record["type"])) ?? (code >= 400 && code < 600 ? code : null),
    codes: codes.trim() || "error",
    message,
    param: paramOf(record),
  };
}

/** OpenAI writes `messages[2].name`, FastAPI a list of steps. */
function paramOf({ param, loc }: Readonly<Record<string, unknown>>): string {
  if (typeof param === "string") return param;
  return Array.isArray(loc) ? loc.join(".") : "";
}

/** Errors inside a stream carry a type instead of a status. Source: Anthropic API reference, errors. */
function statusOfType(type: string): number | null {
  const statuses: Readonly<Record<string, number>> = {
    invalid_request_error: 400,
    authentication_error: 401,
    billing_error: 402,
    permission_error: 403,
    not_found_error: 404,
    request_too_large: 413,
    rate_limit_error: 429,
    api_error: 500,
    server_error: 500,
    timeout_error: 504,
    overloaded_error: 529,
  };
  return statuses[type] ?? null;
}
