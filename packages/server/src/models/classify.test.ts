import { describe, expect, test } from "vitest";
import { readRetryAfter, toModelError } from "./classify.ts";

const context = {
  model: "openai/gpt-5",
  host: "api.openai.com",
  secrets: ["s3cr3t-key/+="],
  clock: { nowMs: () => 0 },
};

function rejected(status: number | undefined, message: string, more: object = {}): Error {
  return Object.assign(new Error(message), { status, error: { message, ...more } });
}

describe("classification of provider errors", () => {
  test.each([
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens.",
    "prompt is too long: 215000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 198000 + 64000 > 200000",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Please reduce the length of the messages or completion.",
    "the request exceeds the available context size, try increasing it",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Your request exceeded model token limit: 262144",
    "Input is too long for requested model.",
    "tokens to keep from the initial prompt is greater than the context length",
    // DashScope, in two of its forms.
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
    "Range of input length should be [1, 30720]",
    // Text generation inference, Together.
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 20 `max_new_tokens`",
    "Input validation error: `inputs` must have less than 4096 tokens. Given: 6000",
    // Cohere.
    "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 9000.",
    // Vertex.
    "Unable to submit request because the input token count is 40000 but model only supports up to 32768. Reduce the input token count and try again.",
    // watsonx.
    "Input text exceeds the maximum: the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model",
    // GitHub Models.
    "Request body too large for gpt-4o model. Max size: 8000 tokens. tokens_limit_reached",
    // SiliconFlow, TabbyAPI.
    "length of prompt_tokens (33000) must be less than max_seq_len (32768).",
    "Prompt length 33000 is greater than max_seq_len 32768",
    // DeepInfra, TensorRT-LLM.
    "Requested input length 20000 exceeds maximum input length 16384",
    "Prompt length (5000) exceeds maximum input length (4096). Set log level to info and check TRTLLMBackend.",
    // MLC.
    "Request prompt has 5000 tokens in total, larger than the model input length limit 4096.",
    // Bedrock, Titan.
    "Malformed input request: expected maxLength: 50000, actual: 60000, please reformat your input and try again.",
    // ERNIE, Doubao, Z.ai, Hunyuan, Spark.
    "the max input chars is 516096",
    "Total tokens of image and text exceed max message tokens. Request id: 02",
    "Prompt exceeds max length",
    // Anthropic, LM Studio, Fireworks, vLLM, Cohere, Google.
    "too many total text bytes",
    "Trying to keep the first 4500 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
    "tokens in request more than max tokens allowed",
    "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
    "too many tokens: the number of tokens in the prompt cannot exceed 4081",
    "Token limit exceeded: 9999/8192",
    "Request payload size exceeds the limit: 20971520 bytes.",
    "Content too large: the limit is 32 MB",
    "Prompt 超长",
    "输入内容长度超过模型的最大上下文限制",
    "token数量超过上限。对话历史+问题的字数太多,需要精简输入",
  ])("P11, L23.23: overflow: %s", (message) => {
    for (const status of [400, 413, 500]) {
      expect(toModelError(rejected(status, message), context)).toMatchObject({
        code: "LLMContextWindowExceedError",
        isRetryable: false,
      });
    }
  });

  test.each([
    "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 46 instead.",
    "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024, but got a string with length 1500 instead.",
    "max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens",
    "tools[1].function.description exceeds maximum length of 1024",
  ])("K8: something else is too long: %s", (message) => {
    expect(toModelError(rejected(400, message), context)).toMatchObject({ code: "LLMBadRequestError" });
  });

  test.each([
    "Invalid JSON schema for tool odd: regex lookaround is not supported",
    "Invalid schema for function 'odd': In context=('properties', 'a'), array schema missing items.",
    "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
    "tools[1].function.parameters: failed to parse function schema",
  ])("K3: a tool that is refused is no fault of the history: %s", (message) => {
    expect(toModelError(rejected(400, message), context)).toMatchObject({
      code: "LLMBadRequestError",
      detail: expect.stringContaining("refuses a tool") as string,
    });
  });

  test.each([
    "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1",
    "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9",
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    "Please ensure that the number of function response parts is equal to the number of function call parts",
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    "messages: text content blocks must be non-empty",
    "Could not process image",
    "You uploaded an unsupported image. Please make sure your image is valid.",
    "messages.3.content.1.image.source.base64.data: Image does not match the provided media type image/png",
    "messages.2.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
    "Unable to process input image. Please retry.",
    "The provided image does not match the specified image format.",
    "Error while downloading https://example.com/a.png.",
    "Unable to download the file. Please verify the URL and try again.",
    "cannot identify image file <_io.BytesIO object>",
    "This model does not support image input",
    "At most 4 image(s) may be provided in one prompt.",
    "Too many images in request",
    "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
  ])("P12: malformed history: %s", (message) => {
    expect(toModelError(rejected(400, message), context)).toMatchObject({
      code: "LLMMalformedConversationHistoryError",
      isRetryable: false,
    });
  });

  test.each([
    [
      429,
      "You exceeded your current quota, please check your plan and billing details.",
      "LLMRateLimitError",
      false,
    ],
    [402, "Insufficient Balance", "LLMRateLimitError", false],
    [400, "Your credit balance is too low to access the API.", "LLMRateLimitError", false],
    [400, "API key not valid. Please pass a valid API key.", "LLMAuthenticationError", false],
    [429, "Rate limit reached for requests per min. Tokens used 90000", "LLMRateLimitError", true],
    [
      400,
      "The response was filtered due to the prompt triggering content management policy",
      "LLMContentPolicyViolationError",
      false,
    ],
    [409, "Conflict", "LLMServiceUnavailableError", true],
    [504, "Gateway Timeout", "LLMTimeoutError", true],
    [301, "Moved", "LLMBadRequestError", false],
  ] as const)("%i %s is %s", (status, message, code, isRetryable) => {
    expect(toModelError(rejected(status, message), context)).toMatchObject({ code, isRetryable });
  });

  test("a request beyond a rate limit is too long, and one of too many is not", () => {
    const code = (message: string, status = 429): string =>
      toModelError(rejected(status, message), context).code;
    const beyond = "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000.";
    expect(code(beyond)).toBe("LLMContextWindowExceedError");
    expect(code("Rate limit reached for gpt-4o on tokens per min (TPM).")).toBe("LLMRateLimitError");
    expect(code("No endpoints found that support image input", 404)).toBe(
      "LLMMalformedConversationHistoryError",
    );
    expect(code("The model `gpt-9` does not exist", 404)).toBe("LLMBadRequestError");
  });

  test("a server that is busy is tried again, and one that sends elsewhere is named", () => {
    const busy = rejected(400, "The model is overloaded. Please try again later.");
    expect(toModelError(busy, context)).toMatchObject({
      code: "LLMServiceUnavailableError",
      isRetryable: true,
    });
    expect(toModelError(rejected(301, ""), context).detail).toContain(
      "sends requests on to another address (301)",
    );
  });

  test("errors inside a stream are told apart by type", () => {
    const inStream = (type: string, code?: number): Error => rejected(undefined, "Busy", { type, code });
    expect(toModelError(inStream("overloaded_error"), context).code).toBe("LLMServiceUnavailableError");
    expect(toModelError(inStream("rate_limit_error"), context).code).toBe("LLMRateLimitError");
    expect(toModelError(inStream("unknown", 502), context).code).toBe("LLMServiceUnavailableError");
  });

  test("connection failures name the host and the reason and may be tried again", () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:9"), { code: "ECONNREFUSED" });
    const thrown = new Error("Connection error.", {
      cause: new TypeError("fetch failed", { cause: refused }),
    });
    expect(toModelError(Object.assign(thrown, { status: undefined }), context)).toEqual({
      code: "LLMServiceUnavailableError",
      detail:
        "The connection to api.openai.com failed: Connection error: fetch failed: connect ECONNREFUSED 127.0.0.1:9.",
      isRetryable: true,
    });
  });

  test("an untrusted certificate is not tried again", () => {
    const thrown = Object.assign(new Error("self-signed certificate"), {
      code: "DEPTH_ZERO_SELF_SIGNED_CERT",
    });
    expect(toModelError(thrown, context)).toMatchObject({
      code: "LLMServiceUnavailableError",
      isRetryable: false,
    });
  });

  test("a failure of our own is not blamed on the network", () => {
    expect(toModelError(new TypeError("x is undefined"), context)).toMatchObject({
      code: "LLMBadRequestError",
      isRetryable: false,
    });
  });

  test("P13: keys vanish from details in every spelling", () => {
    const spellings = [
      "s3cr3t-key/+=",
      encodeURIComponent("s3cr3t-key/+="),
      Buffer.from("s3cr3t-key/+=").toString("base64"),
      "Bearer abcdefghijkl",
      "sk-proj-abcdefghijklmnopqrstuvwxyz",
      "https://user:hunter22@host/v1",
    ];
    const { detail } = toModelError(rejected(400, spellings.join(" | ")), context);
    for (const word of ["s3cr3t", "czNjcjN0", "abcdefghijkl", "hunter22"]) expect(detail).not.toContain(word);
  });

  test("long texts are cut", () => {
    expect(toModelError(rejected(400, "x".repeat(5000)), context).detail.length).toBeLessThan(700);
  });
});

describe("Retry-After", () => {
  test.each([
    [{ "retry-after": "7" }, 7000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after-ms": "250", "retry-after": "7" }, 250],
    [{ "retry-after": "Thu, 01 Jan 1970 00:01:00 GMT" }, 20_000],
    [{ "retry-after": "Thu, 01 Jan 1970 00:00:01 GMT" }, 0],
    [{ "retry-after": "soon" }, null],
    [{}, null],
  ])("P35: %j", (headers, expected) => {
    expect(readRetryAfter(new Headers(headers as Record<string, string>), 40_000)).toBe(expected);
  });
});
