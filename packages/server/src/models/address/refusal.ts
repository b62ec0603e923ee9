import { toModelError, type FailureContext } from "../classify.ts";
import { readReport } from "../read-report.ts";

/** What a provider says against a request, before it has answered anything. */
export type Refusal = {
  /** Codes, the field it blames and the message, as the provider spells them. */
  readonly text: string;
  /** The provider's own words, short and without secrets. */
  readonly excerpt: string;
  readonly isAboutImages: boolean;
  /** False where the server may only be unwell: then nothing is concluded from what the refusal leaves open. */
  readonly isFinal: boolean;
};

/** The refusal in what an attempt threw; null for everything that another form of the same request would not change. */
export function readRefusal(thrown: unknown, context: FailureContext): Refusal | null {
  const { codes, param, message, status } = readReport(thrown);
  const { code, detail } = toModelError(thrown, context);
  const isOfRequest = code === "LLMBadRequestError" || code === "LLMMalformedConversationHistoryError";
  const isServerError = code === "LLMServiceUnavailableError" && status !== null && status >= 500;
  const text = `${codes} ${param} ${message}`;
  // OpenAI says so of what it has sealed for somebody else.
  const isUnknownItem = status === 404 && /\bitem with id\b/iu.test(text);
  const isUnknown = (status === 404 && !isUnknownItem) || status === 405;
  if (!(isOfRequest || isServerError) || isUnknown || codes === "") return null;
  return {
    text,
    excerpt: detail.replace(/\s+/gu, " "),
    isAboutImages: /image|picture|vision/iu.test(text),
    isFinal: isOfRequest,
  };
}
