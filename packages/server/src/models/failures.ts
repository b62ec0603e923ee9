import { ModelFailure } from "./classify.ts";

/** The provider ended an answer before it was complete. */
export function cutAnswer(): ModelFailure {
  return new ModelFailure({
    code: "LLMServiceUnavailableError",
    detail: "The provider's answer broke off before its end.",
    isRetryable: true,
  });
}

/** The provider sent an empty answer. */
export function emptyAnswer(): ModelFailure {
  return new ModelFailure({
    code: "LLMNoResponseError",
    detail: "The model gave an empty answer: no text, no reasoning, no tool call.",
    isRetryable: true,
  });
}

/** The provider stopped the answer for its content. */
export function blockedAnswer(): ModelFailure {
  return new ModelFailure({
    code: "LLMContentPolicyViolationError",
    detail: "The provider's content policy blocked the answer. Rephrase the request and try again.",
    isRetryable: false,
  });
}

/** There is no key to send. */
export function missingKey(provider: string): ModelFailure {
  return new ModelFailure({
    code: "LLMAuthenticationError",
    detail: `There is no API key for ${provider}: set llm.api_key.`,
    isRetryable: false,
  });
}

/** The model tried to call a tool in a way that its provider could not read. */
export function malformedCall(): ModelFailure {
  return new ModelFailure({
    code: "LLMNoResponseError",
    detail: "The model made a tool call that its provider could not read.",
    isRetryable: true,
  });
}

/** Describes a response that has not the form of an answer; other errors are passed on. */
export function readingFailure(error: unknown): unknown {
  // A RangeError is an answer that is nested too deeply to be read.
  const isOfForm = error instanceof TypeError || error instanceof RangeError;
  const isOurReading = isOfForm && error.cause === undefined && !("code" in error);
  if (!isOurReading || isTransportWord.test(error.message)) return error;
  return new ModelFailure({
    code: "LLMServiceUnavailableError",
    detail: "What the provider sent does not have the form of an answer. Check llm.base_url if that goes on.",
    isRetryable: true,
  });
}

/** `fetch` reports a broken connection as a TypeError too. */
const isTransportWord = /terminated|fetch failed|network/iu;
