import type {
  ImageContent,
  MessageToolCall,
  ReasoningItemModel,
  RedactedThinkingBlock,
  TextContent,
  ThinkingBlock,
} from "@convoke/protocol";

/** One message of a request, provider-neutral. Adapters translate it and nothing else does. */
export type ModelMessage =
  | { readonly role: "system"; readonly content: readonly TextContent[] }
  | { readonly role: "user"; readonly content: readonly (TextContent | ImageContent)[] }
  | AssistantMessage
  | {
      readonly role: "tool";
      readonly toolCallId: string;
      readonly name: string;
      readonly content: readonly (TextContent | ImageContent)[];
    };

/** What a model said. `toolCalls[].arguments` is the raw text from the provider and is replayed byte for byte. */
export type AssistantMessage = {
  readonly role: "assistant";
  readonly content: readonly TextContent[];
  readonly toolCalls: readonly MessageToolCall[];
  readonly reasoningContent: string | null;
  readonly thinkingBlocks: readonly (ThinkingBlock | RedactedThinkingBlock)[];
  readonly reasoningItem: ReasoningItemModel | null;
  /** Present where the provider wants its own output items back. Never in events or logs. */
  readonly replay?: ProviderReplay;
  /** Fields for the address of this request, see `fitRequest`; in no log. */
  readonly extra?: ExtraFields;
};

/** What an address wants beside the neutral fields: in the message, and in its calls by their position. */
export type ExtraFields = {
  readonly message: Readonly<Record<string, unknown>>;
  readonly calls: readonly Readonly<Record<string, unknown>>[];
};

/**
 * A provider's output items as it sent them, sealed reasoning included. They go back unchanged to the wire and the host
 * they came from; any other provider gets the neutral fields of the message instead.
 */
export type ProviderReplay = {
  readonly wire: string;
  readonly host: string;
  /** Where other models at the same host may refuse them. */
  readonly model?: string;
  readonly items: readonly unknown[];
};

/** A tool as the model sees it; `parameters` is a JSON Schema object. */
export type ModelTool = {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
};

export type ModelRequest = {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** Stable per conversation; providers that support it route to a warm prompt cache. */
  readonly cacheKey: string;
  /** When it aborts, no further attempt starts, here or at another provider; the attempt in progress finishes. Optional: without it retries are never cut. */
  readonly leaving?: AbortSignal;
};

/** Tokens of one call. `prompt` counts everything sent, cached parts included. Cost is in US dollars, null when no price is known. */
export type ModelUsage = {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  readonly contextWindow: number;
  readonly cost: number | null;
};

export type ModelResponse = {
  /** The provider's response id; made up by the adapter when the provider sends none. */
  readonly id: string;
  readonly model: string;
  readonly message: AssistantMessage;
  readonly usage: ModelUsage;
  readonly latencyMs: number;
  /** True when the provider stopped at its output limit. */
  readonly isTruncated: boolean;
  /** From servers that were asked for token ids and returned them. */
  readonly tokenIds?: TokenIds | undefined;
  /** Earlier attempts of this call that failed and cost tokens all the same; to be recorded with it. */
  readonly spent?: readonly SpentAttempt[];
};

export type TokenIds = { readonly prompt: readonly number[]; readonly response: readonly number[] };

/** Tokens that a failed attempt used, as far as its provider reported them. */
export type SpentAttempt = Pick<ModelResponse, "id" | "model" | "usage">;

/** One call as it is logged when `log_completions` is on. `data` is free of secrets of the route. */
export type CompletionLog = {
  readonly model: string;
  readonly usageId: string;
  readonly isError: boolean;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly data: Readonly<Record<string, unknown>>;
};

/** Stable failure classes; the code is what ConversationErrorEvent carries. The names are those of the reference. */
export type ModelErrorCode =
  | "LLMAuthenticationError"
  | "LLMRateLimitError"
  | "LLMTimeoutError"
  | "LLMServiceUnavailableError"
  | "LLMBadRequestError"
  | "LLMContentPolicyViolationError"
  | "LLMContextWindowExceedError"
  | "LLMMalformedConversationHistoryError"
  | "LLMNoResponseError"
  /** Of our own: no provider was asked, because there is no money left. */
  | "MaxBudgetReached";

export type ModelError = {
  readonly code: ModelErrorCode;
  /** A plain sentence, free of secrets, that says what happened and what to do next. */
  readonly detail: string;
  readonly isRetryable: boolean;
  /** From Retry-After, when the provider sent one. */
  readonly retryAfterMs?: number | undefined;
  /** What passes soon or not at all is asked again after so long, unless other waits were set. */
  readonly againAfterMs?: number | undefined;
};

/** `key` is the same for the same thing at the same address; `detail` says in one sentence what is done without, or otherwise. */
export type Adjustment = { readonly key: string; readonly detail: string };

/** One item of a stream. Exactly one of `done`, `failed`, `aborted` is last; the stream itself never throws. */
export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "tool-arguments"; readonly index: number; readonly name: string; readonly text: string }
  /** Everything streamed so far is void; the request is sent again at `untilMs` (epoch), 0 means at once and to another model. */
  | { readonly type: "log"; readonly log: CompletionLog }
  /** The answer was given to a request that lacks something, because the provider refuses it. */
  | { readonly type: "adjusted"; readonly adjustment: Adjustment }
  | { readonly type: "retry"; readonly attempt: number; readonly untilMs: number; readonly error: ModelError }
  | { readonly type: "done"; readonly response: ModelResponse }
  | { readonly type: "failed"; readonly error: ModelError; readonly spent?: Spent }
  | { readonly type: "aborted"; readonly spent?: Spent };

/** The attempts that cost something; undefined for none. */
export type Spent = readonly SpentAttempt[] | undefined;

/** One LLM route behind one streaming interface. Every backend passes `contract.ts`. */
export interface Model {
  /** As configured, e.g. `openai/gpt-5` or `anthropic/claude-sonnet-4-5`. */
  readonly name: string;
  readonly isVisionEnabled: boolean;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
}
