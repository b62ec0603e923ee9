import { randomUUID } from "node:crypto";
import { UnknownPageError } from "../journal/journal.ts";
import { Fault, invalidField, type FaultKind } from "../lib/fault.ts";
import type { Logger } from "../lib/logger.ts";

const statusOf: Readonly<Record<FaultKind, number>> = {
  caller: 422,
  stranger: 401,
  refused: 403,
  missing: 404,
  conflict: 409,
  "not-now": 503,
  "too-large": 413,
  bug: 500,
};

export type ErrorReply = { readonly status: number; readonly body: unknown };

/** The only place where a failure becomes an HTTP reply. Bugs get an id that the log has too; their text stays inside. */
export function toErrorReply(error: unknown, logger: Logger): ErrorReply {
  if (error instanceof UnknownPageError) {
    return toErrorReply(
      invalidField(["query", "page_id"], `${error.message} Start again without page_id.`),
      logger,
    );
  }
  if (error instanceof Fault) {
    if (error.kind === "caller" && error.fields.length > 0)
      return { status: 422, body: { detail: error.fields } };
    return { status: statusOf[error.kind], body: { detail: error.message, code: error.code } };
  }
  const framework = frameworkFault(error);
  if (framework !== null) return framework;
  const errorId = randomUUID().replaceAll("-", "");
  logger.error(
    { errorId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) },
    "request failed",
  );
  return {
    status: 500,
    body: {
      detail: "Internal Server Error",
      exception: `Something went wrong inside the server. Look for error id ${errorId} in its log.`,
      error_id: errorId,
    },
  };
}

/** Refusals of the HTTP framework itself (bad JSON, too large, wrong media type) carry a status below 500. */
function frameworkFault(error: unknown): ErrorReply | null {
  if (!(error instanceof Error) || !("statusCode" in error)) return null;
  const status = Number(error.statusCode);
  if (!(status >= 400 && status < 500)) return null;
  const code = "code" in error ? String(error.code) : "bad_request";
  if (
    code === "FST_ERR_CTP_INVALID_JSON_BODY" ||
    code === "FST_ERR_CTP_EMPTY_JSON_BODY" ||
    error instanceof SyntaxError
  ) {
    const msg = "The body is not valid JSON. Send one JSON document with Content-Type: application/json.";
    return { status: 422, body: { detail: [{ loc: ["body"], msg, type: "json_invalid" }] } };
  }
  return { status, body: { detail: error.message, code } };
}
