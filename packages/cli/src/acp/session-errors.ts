import { RequestError } from "@agentclientprotocol/sdk";
import { ApiError, ConnectionError } from "@convoke/client";

/** The error codes of the protocol that are used here. */
const codes = { invalid: -32602, internal: -32603, login: -32000, missing: -32002 } as const;

/** What a client is told of a failure: our words, and our code and status beside them. */
export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof ApiError) {
    const { status, code, fields, message } = error;
    const data = { status, ...(code === null ? {} : { code }), ...(fields.length > 0 ? { fields } : {}) };
    return new RequestError(codeOf(status), message, data);
  }
  const message = error instanceof Error ? error.message : String(error);
  const isLost = error instanceof ConnectionError;
  return new RequestError(codes.internal, message, { code: isLost ? "server_unreachable" : "internal" });
}

/** A turn whose run failed; `errorId` is the event in the log that has the details. */
export function runFailed(code: string, detail: string, errorId: string): RequestError {
  return new RequestError(codes.internal, detail, { code, error_id: errorId });
}

export function invalidParams(message: string): RequestError {
  return new RequestError(codes.invalid, message);
}

/** For what needs a session that this connection has not opened. */
export function unknownSession(id: string): RequestError {
  return new RequestError(
    codes.missing,
    `There is no open session ${id}. Use session/new, load or resume first.`,
  );
}

/** Who begins a session has no model to send where none is configured, so the server's words about the field would not help. */
export function noModelAsWords(error: unknown): unknown {
  const isModel = error instanceof ApiError && error.fields.some(({ loc }) => loc.includes("model"));
  return isModel ? invalidParams(noModel) : error;
}

const noModel =
  "No model is set. Set LLM_MODEL (e.g. anthropic/claude-sonnet-4-5) and LLM_API_KEY in the environment of this agent, " +
  "or store a model in the settings of the server.";

function codeOf(status: number): number {
  if (status === 401) return codes.login;
  if (status === 404) return codes.missing;
  return status < 500 ? codes.invalid : codes.internal;
}
