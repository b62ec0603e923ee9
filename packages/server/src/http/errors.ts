import { randomUUID } from "node:crypto";
import {
  DamagedEventError,
  JournalWriteError,
  LeaseLostError,
  SeqConflictError,
  UnknownPageError,
} from "../journal/journal.ts";
import { Fault, invalidField, type FaultKind } from "../lib/fault.ts";
import type { Logger } from "../lib/logger.ts";
import { storageFault } from "../lib/storage-fault.ts";
import { SealError } from "../security/seal.ts";

/** The usual maximum size of a request. */
export const bodyLimitBytes = 1024 * 1024;

/** The maximum size of requests with images and long texts. */
export const largeBodyLimitBytes = 64 * 1024 * 1024;

const statusOf: Readonly<Record<FaultKind, number>> = {
  caller: 422,
  unusable: 400,
  stranger: 401,
  refused: 403,
  missing: 404,
  "wrong-method": 405,
  conflict: 409,
  gone: 410,
  "too-many": 429,
  "not-now": 503,
  "bad-gateway": 502,
  timeout: 504,
  "too-large": 413,
  "no-upgrade": 426,
  "no-range": 416,
  bug: 500,
};

export type ErrorReply = {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** After how many seconds to retry the same request, for transient failures. */
const retryAfterSeconds: Readonly<Record<string, number>> = {
  conversation_closing: 1,
  database_away: 2,
  machine_away: 2,
  owned_elsewhere: 2,
  owner_away: 2,
};

/**
 * The only place where a failure becomes an HTTP reply. Bugs get an id that is also in the log; their message is not
 * revealed.
 */
export function toErrorReply(error: unknown, logger: Logger, limitBytes = bodyLimitBytes): ErrorReply {
  if (error instanceof Fault) return fromFault(error);
  if (error instanceof UnknownPageError) {
    return fromFault(invalidField(["query", "page_id"], `${error.message}. Start again without page_id.`));
  }
  const framework = frameworkFault(error, limitBytes);
  if (framework !== null) return framework;
  const errorId = randomUUID().replaceAll("-", "");
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  logger.error({ errorId, error: text }, "request failed");
  const { status, code, sentence } = describeFailure(error);
  return {
    status,
    ...passing(code),
    body: {
      detail: status === 500 ? "Internal Server Error" : sentence,
      exception: `${sentence} Look for error id ${errorId} in the server's log.`,
      error_id: errorId,
      code,
    },
  };
}

function fromFault(fault: Fault): ErrorReply {
  if (fault.kind === "caller" && fault.fields.length > 0)
    return { status: 422, body: { detail: fault.fields } };
  return {
    status: statusOf[fault.kind],
    body: { detail: fault.message, code: fault.code, ...fault.facts },
    ...passing(fault.code, fault.retryAfterSeconds),
  };
}

function passing(code: string, known?: number): Pick<ErrorReply, "headers"> {
  const seconds = known ?? retryAfterSeconds[code];
  return seconds === undefined ? {} : { headers: { "retry-after": String(seconds) } };
}

/** Storage failures have a code and a remedy; any other error is a bug. */
function describeFailure(error: unknown): { status: number; code: string; sentence: string } {
  if (error instanceof SealError) {
    const sentence =
      "A stored secret cannot be opened with this server's master key. Restore the file master-key of the data folder, or the secret key that was configured, and start again.";
    return { status: 503, code: "secrets_unreadable", sentence };
  }
  const storage = storageFault(error);
  if (storage !== null) {
    return { status: statusOf[storage.kind], code: storage.code, sentence: storage.message };
  }
  if (error instanceof JournalWriteError) {
    const sentence =
      "The storage failed, so nothing of this request was stored. Check the disk, then send it again.";
    return { status: 503, code: "storage_failed", sentence };
  }
  if (error instanceof LeaseLostError || error instanceof SeqConflictError) {
    const sentence = "Another server process took this conversation over. Send the request again.";
    return { status: 503, code: "owned_elsewhere", sentence };
  }
  if (error instanceof DamagedEventError) {
    const sentence = `Event number ${error.seq} of this conversation is damaged; the others can still be read.`;
    return { status: 500, code: "event_damaged", sentence };
  }
  return { status: 500, code: "internal_error", sentence: "Something went wrong inside the server." };
}

/** Refusals of the HTTP framework itself carry a status below 500; their texts are for its users, not for callers. */
function frameworkFault(error: unknown, limitBytes: number): ErrorReply | null {
  if (!(error instanceof Error) || !("statusCode" in error)) return null;
  const status = Number(error.statusCode);
  if (!(status >= 400 && status < 500)) return null;
  const code = "code" in error ? String(error.code) : "";
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return fromFault(bodyTooLarge(limitBytes));
  const known = frameworkSentences[code];
  if (known !== undefined) return { status, body: { detail: known.detail, code: known.code } };
  return { status, body: { detail: error.message, code: "bad_request" } };
}

export function bodyTooLarge(limitBytes: number): Fault {
  const limit = `${limitBytes / 1024 / 1024} MiB`;
  return new Fault("too-large", "body_too_large", `The body is larger than the maximum of ${limit}.`);
}

const wrongMediaType = {
  code: "wrong_media_type",
  detail: "Bodies of this type are not read. Send JSON with Content-Type: application/json.",
};

const frameworkSentences: Readonly<Record<string, { readonly code: string; readonly detail: string }>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: wrongMediaType,
  FST_ERR_MAX_PARAM_LENGTH: { code: "address_too_long", detail: "A part of the address is too long." },
  FST_ERR_BAD_URL: { code: "bad_url", detail: "The address is not encoded as addresses have to be." },
};
