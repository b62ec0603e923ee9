import type { LLM, MessageToolCall } from "@convoke/protocol";
import type { ScriptRaw, ScriptTurn } from "./script.ts";
import type { WireName } from "./wire.ts";

/** A fault of a provider, and how a run with it must end. */
export type ProviderFault = {
  readonly what: string;
  readonly turn: ScriptTurn;
  /** Chat completions unless given. */
  readonly wire?: WireName;
  /** The code that ends the run; null when it continues. */
  readonly ends: string | null;
  /** The codes of the waits that must be seen before. */
  readonly waits: readonly string[];
  readonly llm?: LLM;
};

const unavailable = "LLMServiceUnavailableError";
const rateLimit = "LLMRateLimitError";
const badRequest = "LLMBadRequestError";
const overflow = "LLMContextWindowExceedError";
const silent = "LLMNoResponseError";
const policy = "LLMContentPolicyViolationError";
const timeout = "LLMTimeoutError";

const namelessCall = {
  id: "chatcmpl-odd",
  choices: [
    {
      index: 0,
      delta: {
        tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "", arguments: "{}" } }],
      },
      finish_reason: "tool_calls",
    },
  ],
};

/** A single fault: the run continues after one wait. */
function once(what: string, code: string, turn: ScriptTurn, wire?: WireName): ProviderFault {
  return { what, turn: { text: "recovered", ...turn, attempts: 1 }, ends: null, waits: [code], ...on(wire) };
}

function onceRaw(what: string, code: string, raw: ScriptRaw, wire?: WireName): ProviderFault {
  return once(what, code, { raw }, wire);
}

/** Faults that no retry helps against. */
function final(what: string, code: string, turn: ScriptTurn, wire?: WireName): ProviderFault {
  return { what, turn, ends: code, waits: [], ...on(wire) };
}

/** Unusual answers that are understood without a retry. */
function harmless(what: string, turn: ScriptTurn, wire?: WireName): ProviderFault {
  return { what, turn, ends: null, waits: [], ...on(wire) };
}

function on(wire: WireName | undefined): { wire?: WireName } {
  return wire === undefined ? {} : { wire };
}

const status = (code: number, more: object = {}): ScriptTurn => ({ error: { status: code, ...more } });
const call = (
  text: string,
  id?: string,
): { name: string; arguments: string } & Partial<Pick<MessageToolCall, "id">> => ({
  name: "terminal",
  arguments: text,
  ...(id === undefined ? {} : { id }),
});
const events = { "content-type": "text/event-stream" };
const longText =
  "a sentence that is long enough to be cut somewhere in its middle, as sentences sometimes are";

export const providerFaults: readonly ProviderFault[] = [
  once("429 with Retry-After in seconds", rateLimit, status(429, { retry_after: "1" })),
  once("429 with Retry-After of no time", rateLimit, status(429, { retry_after: "0" })),
  once(
    "429 with Retry-After as a date",
    rateLimit,
    status(429, { retry_after: "Wed, 21 Oct 2015 07:28:00 GMT" }),
  ),
  once("429 with Retry-After that means nothing", rateLimit, status(429, { retry_after: "soon" })),
  once("429", rateLimit, status(429), "anthropic"),
  once("429", rateLimit, status(429), "google"),
  once("429", rateLimit, status(429), "bedrock"),
  once("429", rateLimit, status(429), "openai-responses"),
  final(
    "429 because no money is left",
    rateLimit,
    status(429, { type: "insufficient_quota", message: "You exceeded your current quota." }),
  ),
  final("402", rateLimit, status(402)),
  once("500", unavailable, status(500)),
  once("500", unavailable, status(500), "openai-responses"),
  once("500", unavailable, status(500), "google"),
  onceRaw("500 without a body", unavailable, { status: 500 }),
  onceRaw("502 with a web page", unavailable, {
    status: 502,
    headers: { "content-type": "text/html" },
    body: "<html><title>Bad gateway</title></html>",
  }),
  once("503", unavailable, status(503)),
  once("503", unavailable, status(503), "bedrock"),
  onceRaw("504 in plain words", timeout, { status: 504, body: "upstream request timeout" }),
  once("529", unavailable, status(529, { type: "overloaded_error" }), "anthropic"),
  once("408", timeout, status(408)),
  once("409", unavailable, status(409)),
  { what: "503 for ever", turn: status(503), ends: unavailable, waits: [unavailable, unavailable] },
  final("400", badRequest, status(400)),
  final("401", "LLMAuthenticationError", status(401)),
  final("403", "LLMAuthenticationError", status(403), "google"),
  final("404", badRequest, status(404)),
  final("422", badRequest, status(422)),
  final("413", overflow, status(413)),
  final("too long", overflow, { overflow: true }),
  final("too long", overflow, { overflow: true }, "openai-responses"),
  final("too long", overflow, { overflow: true }, "anthropic"),
  final("too long", overflow, { overflow: true }, "google"),
  final("too long", overflow, { overflow: true }, "bedrock"),
  final(
    "too long, wrapped in a 500",
    overflow,
    status(500, { message: "upstream: prompt is too long: 9 tokens > 8 maximum" }),
  ),
  final("a blocked answer", policy, { text: "I was", finish_reason: "content_filter" }),
  final("a blocked answer", policy, { text: "I was", finish_reason: "content_filter" }, "openai-responses"),
  final("a blocked answer", policy, { text: "I was", finish_reason: "content_filter" }, "anthropic"),
  final("a blocked answer", policy, { text: "I was", finish_reason: "content_filter" }, "google"),
  final("a blocked answer", policy, { text: "I was", finish_reason: "content_filter" }, "bedrock"),
  final(
    "a blocked request",
    policy,
    status(400, { message: "The prompt was blocked by our content management policy." }),
  ),
  once("cut before the first byte", unavailable, { cut_after_bytes: 0 }),
  once("cut inside the first event", unavailable, { text: longText, cut_after_bytes: 60 }),
  once("cut inside a later event", unavailable, { text: longText, cut_after_bytes: 500 }),
  once(
    "cut in the middle",
    unavailable,
    { text: longText, chunk_size: 4, cut_after_bytes: 700 },
    "openai-responses",
  ),
  once(
    "cut in the middle",
    unavailable,
    { text: longText, chunk_size: 4, cut_after_bytes: 700 },
    "anthropic",
  ),
  once("cut in the middle", unavailable, { text: longText, chunk_size: 4, cut_after_bytes: 700 }, "google"),
  once(
    "cut in the middle of a frame",
    unavailable,
    { text: longText, chunk_size: 4, cut_after_bytes: 700 },
    "bedrock",
  ),
  once("cut in the middle of a tool call", unavailable, {
    tool_calls: [call('{"command":"half"}')],
    chunk_size: 2,
    cut_after_bytes: 600,
  }),
  once("half a JSON value", unavailable, { half_json: true, text: longText }),
  once("half a JSON value", unavailable, { half_json: true, text: longText }, "anthropic"),
  once("half a JSON value in a whole frame", unavailable, { half_json: true, text: longText }, "bedrock"),
  onceRaw("events that are not JSON", unavailable, { headers: events, body: "data: nothing like it\n\n" }),
  onceRaw("comments only", unavailable, { headers: events, body: ": still there\n\n" }),
  onceRaw("bytes that are no frames", unavailable, { body: "what is this? not a frame" }, "bedrock"),
  onceRaw("an empty body", unavailable, {}),
  onceRaw("an empty body", unavailable, {}, "google"),
  onceRaw("an empty JSON object", silent, { headers: { "content-type": "application/json" }, body: "{}" }),
  once("an answer without content", silent, { empty: true }),
  once("an answer without content", silent, { empty: true }, "anthropic"),
  onceRaw("compressed, and not really", unavailable, {
    headers: { "content-encoding": "gzip", ...events },
    body: "not gzip",
  }),
  onceRaw("an error inside the stream", unavailable, {
    headers: events,
    body: 'data: {"error":{"message":"The server had an error.","type":"server_error"}}\n\n',
  }),
  onceRaw(
    "an error inside the stream",
    unavailable,
    {
      headers: events,
      body: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    },
    "anthropic",
  ),
  onceRaw(
    "an error inside the stream",
    unavailable,
    {
      headers: events,
      body: 'data: {"type":"response.failed","response":{"id":"r","error":{"code":"server_error","message":"Failed."}}}\n\n',
    },
    "openai-responses",
  ),
  onceRaw(
    "an error inside the stream",
    rateLimit,
    {
      headers: events,
      body: 'data: {"error":{"code":429,"message":"Too many.","status":"RESOURCE_EXHAUSTED"}}\n\n',
    },
    "google",
  ),
  onceRaw("429 as status 200", rateLimit, {
    headers: { "content-type": "application/json" },
    body: '{"error":{"message":"Slow down.","code":429}}',
  }),
  final("a web page", badRequest, {
    raw: { headers: { "content-type": "text/html" }, body: "<!doctype html><p>Welcome" },
  }),
  final(
    "a web page",
    badRequest,
    { raw: { headers: { "content-type": "text/html" }, body: "<!doctype html><p>Welcome" } },
    "google",
  ),
  final("a redirect", badRequest, {
    raw: { status: 302, headers: { location: "http://127.0.0.1:9/elsewhere" } },
  }),
  final("a body without an end", badRequest, {
    raw: { headers: events, body: `data: ${"x".repeat(4_000_000)}`, repeat: 20 },
  }),
  { ...once("no answer", timeout, { hang: true }), llm: { timeout: 5 } },
  { ...once("an answer that stops", timeout, { text: longText, hang: "body" }), llm: { timeout: 5 } },
  {
    ...once("an answer that stops", timeout, { text: longText, hang: "body" }, "bedrock"),
    llm: { timeout: 5 },
  },
  harmless("drop by drop", { text: "slowly", chunk_size: 1, chunk_delay_ms: 5 }),
  harmless("one byte at a time", { text: "ü漢🧪", write_bytes: 1 }),
  harmless("a stream that says it is something else", {
    text: "fine",
    content_type: "application/octet-stream",
  }),
  harmless("a whole answer instead of a stream", { text: "fine", plain_json: true }),
  harmless("an answer that hits the output limit", { text: "half a", finish_reason: "length" }),
  harmless("arguments that are not JSON", { tool_calls: [call('{"command": "un')] }),
  harmless("arguments that are a list", { tool_calls: [call("[1]")] }),
  harmless("two calls with one id", {
    tool_calls: [call('{"command":"one"}', "same"), call('{"command":"two"}', "same")],
  }),
  harmless("a tool that does not exist", { tool_calls: [{ name: "teleport", arguments: {} }] }),
  onceRaw("a call without a name, and nothing else", silent, {
    headers: events,
    body: `data: ${JSON.stringify(namelessCall)}\n\ndata: [DONE]\n\n`,
  }),
];
