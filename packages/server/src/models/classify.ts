import {
  blindPhrase,
  busyPhrase,
  contentPolicyPhrases,
  keyPhrases,
  malformedHistoryPhrases,
  overflowOfRate,
  overflowPhrases,
  quotaPhrases,
  toolPhrases,
} from "./error-phrases.ts";
import { hideSecrets } from "./hide-secrets.ts";
import type { ModelError, ModelErrorCode } from "./model.ts";
import { readReport, type Report } from "./read-report.ts";
import type { Clock } from "../lib/clock.ts";

/** What an error text may and may not say about the route. */
export type FailureContext = {
  readonly model: string;
  readonly host: string;
  /** As the address has it; empty where it has none. */
  readonly port?: string;
  readonly secrets: readonly string[];
  /** Milliseconds since the epoch, for Retry-After given as a date. */
  readonly clock: Clock;
};

/** A failure that an adapter recognised by itself; its detail is already fit to be shown. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly error: ModelError;

  constructor(error: ModelError) {
    super(error.detail);
    this.error = error;
  }
}

/** Turns whatever an attempt threw into a stable code and one plain sentence without secrets. */
export function toModelError(thrown: unknown, context: FailureContext): ModelError {
  if (thrown instanceof ModelFailure) {
    return { ...thrown.error, detail: hideSecrets(thrown.error.detail, context.secrets) };
  }
  const report = readReport(thrown);
  const verdict = judge(report, context);
  const retryAfterMs = verdict.isRetryable ? readRetryAfter(report.headers, context.clock.nowMs()) : null;
  return {
    code: verdict.code,
    detail: hideSecrets(verdict.detail, context.secrets),
    isRetryable: verdict.isRetryable,
    retryAfterMs: retryAfterMs ?? undefined,
  };
}

/** The wait a provider asks for, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function readRetryAfter(headers: Headers | null, nowMs: number): number | null {
  const exact = Number.parseFloat(headers?.get("retry-after-ms") ?? "");
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const text = headers?.get("retry-after")?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/u.test(text)) return Number.parseFloat(text) * 1000;
  const at = text === "" ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

type Verdict = { readonly code: ModelErrorCode; readonly detail: string; readonly isRetryable: boolean };

/** Overflow and malformed history come first: gateways wrap them in statuses that would otherwise be retried. */
function judge(report: Report, context: FailureContext): Verdict {
  const { status } = report;
  const text = `${report.codes} ${report.message}`;
  const quoted = quote(report.message);
  const matches = (phrases: readonly RegExp[]): boolean => phrases.some((phrase) => phrase.test(text));
  const verdict = (code: ModelErrorCode, isRetryable: boolean, detail: string): Verdict => ({
    code,
    isRetryable,
    detail,
  });
  const isAboutRequest = status !== null && ![401, 402, 403, 404, 408, 429].includes(status);
  const isAboutContent = isAboutRequest || (status === null && report.codes !== "");

  const isBeyondRate = status === 429 && overflowOfRate.test(text);
  if ((isAboutContent && (matches(overflowPhrases) || status === 413)) || isBeyondRate) {
    return verdict(
      "LLMContextWindowExceedError",
      false,
      `The request is too long for ${context.model}${quoted}`,
    );
  }
  const isAboutTools = matches(toolPhrases);
  const isBlind = status === 404 && blindPhrase.test(text);
  const isAboutHistory =
    isAboutContent && status !== 529 && !isAboutTools && matches(malformedHistoryPhrases);
  if (isAboutHistory || isBlind) {
    return verdict(
      "LLMMalformedConversationHistoryError",
      false,
      `The provider rejects an earlier item of this conversation${quoted}`,
    );
  }
  if (matches(quotaPhrases) || status === 402) {
    return verdict(
      "LLMRateLimitError",
      false,
      `The account at ${context.host} has no credit or quota left${quoted} Add credit or change llm.api_key.`,
    );
  }
  if (matches(contentPolicyPhrases)) {
    return verdict(
      "LLMContentPolicyViolationError",
      false,
      `The provider's content policy blocked the request${quoted}`,
    );
  }
  if (status === 401 || status === 403 || (isAboutContent && matches(keyPhrases))) {
    return verdict(
      "LLMAuthenticationError",
      false,
      `${context.host} refused the key${statusOf(status)}${quoted} Check llm.api_key and that it may use ${context.model}.`,
    );
  }
  if (status === 429 || /rate_limit|too many requests|resource_exhausted|\b429\b/iu.test(text)) {
    return verdict("LLMRateLimitError", true, `${context.host} limits the rate of requests${quoted}`);
  }
  if (status === 408 || /timeout|timed ?out/iu.test(`${report.name} ${text}`)) {
    return verdict(
      "LLMTimeoutError",
      true,
      `${context.host} took too long to answer${quoted} Raise llm.timeout if the model needs longer.`,
    );
  }
  if (/\bCERT_|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)|ERR_TLS/u.test(text)) {
    return verdict(
      "LLMServiceUnavailableError",
      false,
      `The certificate of ${context.host} is not trusted${quoted} Add its authority to the server's trusted ones.`,
    );
  }
  if (status !== null && status >= 300 && status < 400) {
    return verdict(
      "LLMBadRequestError",
      false,
      `${context.host} sends requests on to another address (${status}), which is not followed${quoted} ` +
        "Set llm.base_url to the address where the model itself answers.",
    );
  }
  if (status === 404 || status === 405) {
    return verdict(
      "LLMBadRequestError",
      false,
      `${context.host} does not know ${context.model} or this address (${status})${quoted} ` +
        "Check llm.model and llm.base_url, which usually ends with /v1.",
    );
  }
  if (status !== null && status < 500 && status !== 409 && isAboutTools) {
    const detail =
      `${context.host} refuses a tool that the agent has, or how it is described (${status})${quoted} ` +
      "Take away the MCP server or the tool that it names.";
    return verdict("LLMBadRequestError", false, detail);
  }
  if (status !== null && status < 500 && status !== 409 && !busyPhrase.test(text)) {
    return verdict("LLMBadRequestError", false, `${context.host} rejected the request (${status})${quoted}`);
  }
  if (report.isOurs) {
    return verdict("LLMBadRequestError", false, `The request to ${context.model} could not be made${quoted}`);
  }
  const what =
    status === null
      ? `The connection to ${context.host} failed`
      : `${context.host} is unavailable (${status})`;
  return verdict("LLMServiceUnavailableError", true, `${what}${quoted}`);
}

function statusOf(status: number | null): string {
  return status === null ? "" : ` (${status})`;
}

const longestQuote = 600;

/** The provider's own words as the end of a sentence. */
function quote(message: string): string {
  const text = message.replace(/\s+/gu, " ").trim();
  if (text === "") return ".";
  const short = text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text;
  return `: ${short}${/[.!?…]$/u.test(short) ? "" : "."}`;
}
