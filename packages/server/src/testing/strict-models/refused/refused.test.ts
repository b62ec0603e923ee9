import { expect, test } from "vitest";
import { refuse, type Refusal, type StrictProvider } from "../strict-provider.ts";
import { strictProviders } from "../strict-providers.ts";
import { editBody, type Body, type Edit } from "./edit-body.ts";
import { edits, type EditName } from "./edits.ts";
import { goodBody } from "./good-body.ts";
import { ownFaults } from "./own-faults.ts";
import { refusedTable, type FaultName } from "./refused-table.ts";
import { schemaPlaces, schemas, type SchemaName } from "./schemas.ts";

const overflowWords: Readonly<Record<string, string>> = {
  openai: "maximum context length is 10 tokens",
  "openai-responses": "exceeds the context window",
  azure: "maximum context length is 10 tokens",
  anthropic: "prompt is too long",
  google: "exceeds the maximum number of tokens",
  "google-chat": "exceeds the maximum number of tokens",
  mistral: "too large for model with 10 maximum context length",
  deepseek: "maximum context length is 10 tokens",
  "deepseek-alias": "maximum context length is 10 tokens",
  "deepseek-older": "maximum context length is 10 tokens",
  mimo: "maximum context length is 10 tokens",
  moonshot: "exceeded model token limit: 10",
  dashscope: "Range of input length should be [1, 10]",
  glm: "Prompt exceeds max length",
  groq: "reduce the length of the messages",
  "groq-kimi": "reduce the length of the messages",
  together: "must be <= 10",
  fireworks: "prompt is too long",
  openrouter: "maximum context length is 10 tokens",
  bedrock: "prompt is too long",
  vllm: "maximum context length is 10 tokens",
  sglang: "longer than the model's context length",
  "llama-cpp": "exceeds the available context size",
  ollama: "prompt too long",
  "lm-studio": "context length of only 10 tokens",
};

test.each(strictProviders)(
  "$name accepts its own earlier answer, and refuses too long requests",
  (provider) => {
    const good = goodBody(provider);
    expect(ask(provider, good)).toBeNull();
    expect(JSON.stringify(ask(provider, good, 10)?.body)).toContain(overflowWords[provider.name]);
  },
);

test.each(Object.entries(refusedTable))("%s refuses these faults and no others", (name, rows) => {
  const provider = providerOf(name);
  const refused = [...Object.keys(edits[provider.wire.name]), ...Object.keys(schemas)].flatMap((fault) => {
    const refusal = ask(provider, editBody(goodBody(provider), editOf(provider, fault as FaultName)));
    return refusal === null ? [] : [[fault, plain(refusal.body)] as const];
  });
  expect(refused.map(([fault]) => fault)).toEqual(rows.map(([fault]) => fault));
  for (const [at, [, words]] of rows.entries()) expect(refused[at]?.[1]).toContain(plain(words).slice(1, -1));
});

test.each(ownFaults)("%s refuses %s", (name, _what, edit, words) => {
  const provider = providerOf(name);
  expect(plain(ask(provider, editBody(goodBody(provider), edit))?.body)).toContain(plain(words).slice(1, -1));
});

function providerOf(name: string): StrictProvider {
  return strictProviders.find((provider) => provider.name === name)!;
}

function editOf({ wire }: StrictProvider, fault: FaultName): Edit {
  return fault in schemas
    ? [[schemaPlaces[wire.name], schemas[fault as SchemaName]]]
    : edits[wire.name][fault as EditName];
}

/** As one text without escapes: gateways quote the body of another inside of their own. */
function plain(value: unknown): string {
  return JSON.stringify(value).replaceAll("\\", "");
}

function ask(provider: StrictProvider, body: Body, window?: number): Refusal | null {
  const path = provider.name === "azure" ? "/openai/deployments/gpt-4.1/chat/completions" : provider.path;
  const text = JSON.stringify(body);
  const request = { path, headers: { "api-key": "key" }, text, body: JSON.parse(text) as Body };
  return refuse(provider, request, window);
}
