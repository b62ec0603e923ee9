import type { ValidationError } from "@convoke/protocol";

/** The server refused a request or could not carry it out. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** Stable error code of the server, if the reply has one. */
  readonly code: string | null;
  /** For status 422: one entry per invalid field. */
  readonly fields: readonly ValidationError[];

  constructor(status: number, message: string, code: string | null, fields: readonly ValidationError[]) {
    super(message);
    this.status = status;
    this.code = code;
    this.fields = fields;
  }
}

/** Parses an error reply of the server. Any other body becomes a plain sentence with the status. */
export function toApiError(status: number, body: unknown): ApiError {
  const { detail, code } = (typeof body === "object" && body !== null ? body : {}) as {
    detail?: unknown;
    code?: unknown;
  };
  const stableCode = typeof code === "string" ? code : null;
  if (typeof detail === "string") return new ApiError(status, detail, stableCode, []);
  if (Array.isArray(detail)) {
    const fields = detail as ValidationError[];
    const message = fields.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
    return new ApiError(status, message, stableCode, fields);
  }
  return new ApiError(status, `The server answered with status ${status}.`, stableCode, []);
}
