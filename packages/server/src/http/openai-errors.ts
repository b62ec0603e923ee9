import type { ValidationError } from "@convoke/protocol";

const types: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
};

/** A failure in the form of OpenAI's API; `param` is the affected field of the request. */
export function toOpenAiError(
  status: number,
  code: string,
  message: string,
  param: string | null = null,
): { readonly error: object } {
  const type = types[status] ?? (status >= 500 ? "server_error" : "invalid_request_error");
  return { error: { message, type, param, code } };
}

/** An error reply with OpenAI's form beside ours, for addresses below `/v1/`. */
export function withOpenAiError(url: string, status: number, body: unknown): unknown {
  if (!url.startsWith("/v1/") || typeof body !== "object" || body === null) return body;
  const { code, detail, param } = body as { code?: unknown; detail?: unknown; param?: unknown };
  const [field] = Array.isArray(detail) ? (detail as ValidationError[]) : [];
  if (field !== undefined) {
    const param = field.loc.slice(1).join(".");
    return { ...body, ...toOpenAiError(status, field.type, field.msg, param === "" ? null : param) };
  }
  const message = typeof detail === "string" ? detail : "The request failed.";
  const name = typeof param === "string" ? param : null;
  return { ...body, ...toOpenAiError(status, typeof code === "string" ? code : "error", message, name) };
}
