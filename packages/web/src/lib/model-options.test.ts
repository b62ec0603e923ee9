import { expect, test } from "vitest";
import { matchingModels, modelOptions, proposedName } from "./model-options.ts";

const options = modelOptions(
  { servers: [{ name: "Ollama", base_url: null, models: ["ollama/qwen3:8b"] }] },
  { models: { anthropic: ["claude-sonnet-4-5"], groq: ["qwen3-32b"] } },
  { models: ["aaa/model", "anthropic/claude-sonnet-4-5", "groq/qwen3-32b", "openai/gpt-4o"] },
);

test("models of this machine come first, then verified ones, then the others", () => {
  expect(options.map(({ model }) => model)).toEqual([
    "ollama/qwen3:8b",
    "anthropic/claude-sonnet-4-5",
    "groq/qwen3-32b",
    "aaa/model",
    "openai/gpt-4o",
  ]);
});

test("a query finds models by every word of their name or server", () => {
  const found = (query: string): string[] => matchingModels(options, query).map(({ model }) => model);
  expect(found("qwen")).toEqual(["ollama/qwen3:8b", "groq/qwen3-32b"]);
  expect(found("Ollama 8B")).toEqual(["ollama/qwen3:8b"]);
  expect(found("nothing")).toEqual([]);
  expect(found("")).toHaveLength(5);
});

test("a stored model gets a name that fits into an address", () => {
  expect(proposedName("ollama/qwen3:8b")).toBe("qwen3-8b");
  expect(proposedName("openrouter/openai/gpt-4o")).toBe("gpt-4o");
  expect(proposedName("hosted_vllm/.hidden model!")).toBe("hidden-model");
  expect(proposedName("ollama/模型")).toBe("model");
});
