import {
  startScriptedModel,
  type RecordedRequest,
  type ScriptTurn,
} from "../scripted-model/scripted-model.ts";
import { createFastModelClock } from "../../models/clock.ts";
import {
  collect,
  doneOf,
  failureOf,
  requestOf,
  silent,
  textOf,
  toolResult,
  userMessage,
} from "../../models/contract-bench.ts";
import type { AssistantMessage, Model, ModelMessage, ModelPart } from "../../models/model.ts";
import { openModel } from "../../models/open-model.ts";

const wires = [
  { title: "chat completions", model: "openai/gpt-4.1", path: "/v1" },
  { title: "responses", model: "openai_responses/gpt-5", path: "/v1" },
  { title: "Anthropic", model: "anthropic/claude-sonnet-4-5", path: "" },
  { title: "Gemini", model: "gemini/gemini-3-pro-preview", path: "/v1beta" },
  { title: "Bedrock", model: "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0", path: "" },
  { title: "calls in words", model: "openai/gpt-4.1", path: "/v1", native_tool_calling: false },
] as const;

type Wire = (typeof wires)[number];

/** A model on a wire, and the requests that its provider received. */
type Bench = {
  readonly wire: Wire;
  readonly open: (turns: readonly ScriptTurn[], llm?: object) => Promise<Opened>;
};
type Opened = { readonly model: Model; readonly requests: readonly RecordedRequest[] };
type Scenario = (bench: Bench) => Promise<string>;

const image = "data:image/png;base64,iVBORw0KGgo=";
const sealed = "c2VhbGVkLWJ5LXRoaXMtcHJvdmlkZXI=";

const scenarios: readonly (readonly [string, Scenario])[] = [
  ["abort in mid answer", abort],
  ["an answer that says nothing", async (bench) => ended(await ask(bench, [{ text: "" }]), "taken as it is")],
  ["no answer", async (bench) => ended(await ask(bench, [{ empty: true }]))],
  [
    "an answer cut in the middle",
    async (bench) =>
      ended(await ask(bench, [{ text: "to be cut off ".repeat(40), chunk_size: 4, cut_after_bytes: 900 }])),
  ],
  [
    "a blocked answer",
    async (bench) => ended(await ask(bench, [{ text: "I was", finish_reason: "content_filter" }])),
  ],
  ["a request that is too long", async (bench) => ended(await ask(bench, [{ overflow: true }]))],
  ["reasoning and nothing else", reasoningOnly],
  ["reasoning, given back", reasoningReplay],
  ["text of any script, byte by byte", unicode],
  ["arguments of 1 MB", hugeArguments],
  ["text of arguments", argumentText],
  ["several calls at once", parallelCalls],
  ["two calls with one id", duplicateIds],
  ["a call without a result", missingResult],
  ["images of users and of tools", images],
  ["images for a model that sees none", unseenImages],
  ["a history made by every other wire", handOver],
];

/** The table of `docs/models.md`: the behaviour of each wire, measured. */
export async function renderBehaviourMatrix(): Promise<string> {
  const rows: string[][] = [];
  for (const [title, scenario] of scenarios) {
    const cells: string[] = [];
    for (const wire of wires) cells.push(await observe(wire, scenario));
    rows.push([title, ...cells]);
  }
  return toTable([["", ...wires.map(({ title }) => title)], ...rows]);
}

async function observe(wire: Wire, scenario: Scenario): Promise<string> {
  await using servers = new AsyncDisposableStack();
  const bench: Bench = { wire, open: async (turns, llm) => await openOn(wire, servers, turns, llm) };
  return await scenario(bench);
}

async function openOn(
  { path, ...route }: Wire,
  servers: AsyncDisposableStack,
  turns: readonly ScriptTurn[],
  llm: object = {},
): Promise<Opened> {
  const server = servers.use(await startScriptedModel({ script: { turns } }));
  const retries = { num_retries: 2, retry_min_wait: 0, retry_max_wait: 0, retry_multiplier: 0 };
  const model = openModel(
    { ...route, base_url: `${server.url}${path}`, api_key: "key-of-the-matrix", ...retries, ...llm },
    { clock: createFastModelClock(200) },
  );
  return { model, requests: server.requests };
}

async function ask(bench: Bench, turns: readonly ScriptTurn[]): Promise<ModelPart[]> {
  return await collect((await bench.open(turns)).model);
}

function ended(parts: readonly ModelPart[], word = "answered"): string {
  const retries = parts.filter((part) => part.type === "retry").length;
  const outcome = parts.at(-1)?.type === "done" ? word : failureOf(parts).code;
  return retries > 0 ? `tried again, then ${outcome}` : outcome;
}

async function abort({ open }: Bench): Promise<string> {
  const { model } = await open([{ text: "a long story ".repeat(20), hang: "body", chunk_size: 4 }]);
  const stop = new AbortController();
  const types: string[] = [];
  for await (const part of model.stream(requestOf([userMessage("Go.")]), stop.signal)) {
    types.push(part.type);
    if (part.type === "text") stop.abort();
  }
  return types.at(-1) === "aborted" ? "ends at once" : String(types.at(-1));
}

async function reasoningOnly(bench: Bench): Promise<string> {
  const { message } = doneOf(await ask(bench, [{ reasoning: "only thoughts" }]));
  return message.reasoningContent === "only thoughts" && message.content.length === 0
    ? "kept as reasoning"
    : "lost";
}

async function reasoningReplay({ open }: Bench): Promise<string> {
  const call = { name: "look", arguments: { path: "/a" }, id: "call_A" };
  const { model, requests } = await open([
    { reasoning: "hm", signature: sealed, tool_calls: [call] },
    { text: "ok" },
  ]);
  const { message } = doneOf(await collect(model));
  const [made] = message.toolCalls;
  doneOf(await collect(model, [userMessage("Go."), message, toolResult(made!.id, "look", "seen")]));
  return requests[1]?.text.includes(sealed) === true ? "sealed, unchanged" : "not sent";
}

async function unicode(bench: Bench): Promise<string> {
  const text = "Grüße, 漢字 und 🧪";
  return textOf(await ask(bench, [{ text, write_bytes: 1, chunk_size: 3 }])) === text ? "exact" : "changed";
}

async function hugeArguments(bench: Bench): Promise<string> {
  const text = JSON.stringify({ path: "x漢".repeat(260_000) });
  return (await callsOf(bench, [text]))[0]?.arguments === text ? "exact" : "changed";
}

async function argumentText(bench: Bench): Promise<string> {
  const text = '{ "path":  "/a" }';
  const [call] = await callsOf(bench, [text]);
  return call?.arguments === text ? "as written" : "same value";
}

async function parallelCalls(bench: Bench): Promise<string> {
  const texts = ["/a", "/b", "/c"].map((path) => JSON.stringify({ path }));
  const calls = await callsOf(bench, texts);
  const isSame = calls.every((call, at) => call.arguments === texts[at]) && calls.length === 3;
  return isSame ? "in order" : "changed";
}

async function duplicateIds(bench: Bench): Promise<string> {
  const texts = ['{"path":"/a"}', '{"path":"/b"}'];
  const calls = await callsOf(bench, texts, "same");
  if (calls.some((call, at) => call.arguments !== texts[at])) return "mixed up";
  return new Set(calls.map(({ id }) => id)).size === 2 ? "made different" : "kept";
}

/** Calls in the format of the server; a model without tool calls writes them as text. */
async function callsOf(
  { wire, open }: Bench,
  texts: readonly string[],
  id?: string,
): Promise<AssistantMessage["toolCalls"]> {
  const turn: ScriptTurn =
    "native_tool_calling" in wire
      ? { text: texts.map((text) => `<call name="look">\n${text}\n</call>`).join("\n") }
      : { tool_calls: texts.map((text, at) => ({ name: "look", arguments: text, id: id ?? `call_${at}` })) };
  return doneOf(await collect((await open([turn])).model)).message.toolCalls;
}

async function missingResult({ open }: Bench): Promise<string> {
  const { model, requests } = await open([{ text: "ok" }, { text: "ok" }]);
  const spoken: AssistantMessage = {
    ...silent,
    toolCalls: [{ id: "call_A", name: "look", arguments: "{}", origin: "completion" }],
  };
  doneOf(await collect(model, [userMessage("Go."), spoken, userMessage("And?")]));
  return requests[0]?.text.includes("(no result)") === true ? "gets a stand-in" : "sent as it is";
}

function imageHistory(url: string): ModelMessage[] {
  const part = { type: "image" as const, image_urls: [url] };
  const spoken: AssistantMessage = {
    ...silent,
    toolCalls: [{ id: "call_A", name: "look", arguments: "{}", origin: "completion" }],
  };
  return [
    { role: "user", content: [{ type: "text", text: "Look:" }, part] },
    spoken,
    { role: "tool", toolCallId: "call_A", name: "look", content: [part] },
  ];
}

async function images({ open }: Bench): Promise<string> {
  const { model, requests } = await open([{ text: "ok" }, { text: "ok" }]);
  doneOf(await collect(model, imageHistory(image)));
  return requests[0]?.text.match(/iVBORw0KGgo=/gu)?.length === 2 ? "both sent" : "not both sent";
}

async function unseenImages({ open }: Bench): Promise<string> {
  const { model, requests } = await open([{ text: "ok" }, { text: "ok" }], { disable_vision: true });
  doneOf(await collect(model, imageHistory(image)));
  const text = requests[0]?.text ?? "";
  return !text.includes("iVBORw0KGgo=") && text.includes("cannot see images") ? "a sentence instead" : "sent";
}

/** Each other wire makes a turn with sealed reasoning and two calls; this wire must accept all of them and unseal none. */
async function handOver({ wire, open }: Bench): Promise<string> {
  const messages: ModelMessage[] = [userMessage("Go.")];
  for (const [at, other] of wires.entries()) {
    if (other.title === wire.title || "native_tool_calling" in other) continue;
    const path = { path: "/a" };
    const calls = ["x", "y"].map((part) => ({ name: "look", arguments: path, id: `toolu.${at}:${part}` }));
    const turn = {
      reasoning: "hm",
      signature: `seal-of-${other.title}`,
      text: "Looking.",
      tool_calls: calls,
    };
    const parts = await observeOther(other, turn);
    messages.push(parts, ...parts.toolCalls.map(({ id }) => toolResult(id, "look", "seen")));
  }
  const { model, requests } = await open(Array.from({ length: 8 }, () => ({ text: "taken over" })));
  const answer = doneOf(await collect(model, [...messages, userMessage("Go on.")]));
  const text = requests[0]?.text ?? "";
  const seals = wires.filter(({ title }) => text.includes(`seal-of-${title}`)).map(({ title }) => title);
  const isWhole = textOfMessage(answer.message) === "taken over" && text.match(/seen/gu)!.length >= 6;
  return `${isWhole ? "taken over" : "broken"}; ${seals.length === 0 ? "nothing sealed sent" : `sealed reasoning of ${seals.join(", ")} sent`}`;
}

async function observeOther(wire: Wire, turn: ScriptTurn): Promise<AssistantMessage> {
  await using servers = new AsyncDisposableStack();
  const { model } = await openOn(wire, servers, [turn]);
  return doneOf(await collect(model)).message;
}

function textOfMessage(message: AssistantMessage): string {
  return message.content.map((part) => part.text).join("");
}

function toTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(" | ")} |`;
  const [head, ...body] = rows;
  return [line(head!), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...body.map(line)].join(
    "\n",
  );
}
