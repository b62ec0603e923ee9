import { describe, expect, test } from "vitest";
import { isLocalUrl, routeOf } from "./model-names.ts";

const nowhere = { baseUrl: null, ollamaBaseUrl: null };
const at = (baseUrl: string) => ({ baseUrl, ollamaBaseUrl: null });

describe("routes", () => {
  test.each([
    ["openai/gpt-5", nowhere, "openai-responses", "gpt-5", "https://api.openai.com/v1", true],
    ["gpt-5", nowhere, "openai-responses", "gpt-5", "https://api.openai.com/v1", true],
    ["o3", nowhere, "openai-responses", "o3", "https://api.openai.com/v1", true],
    ["claude-sonnet-4-5", nowhere, "anthropic", "claude-sonnet-4-5", "https://api.anthropic.com", true],
    [
      "anthropic/claude-x",
      at("https://gate.example/v1/"),
      "anthropic",
      "claude-x",
      "https://gate.example",
      true,
    ],
    [
      "anthropic/kimi-k2",
      at("https://gate.example/anthropic"),
      "anthropic",
      "kimi-k2",
      "https://gate.example/anthropic",
      true,
    ],
    [
      "openrouter/anthropic/claude-x",
      nowhere,
      "openai-chat",
      "anthropic/claude-x",
      "https://openrouter.ai/api/v1",
      true,
    ],
    ["litellm_proxy/a/b", at("https://proxy.example"), "openai-chat", "a/b", "https://proxy.example", false],
    ["ollama/llama3", nowhere, "openai-chat", "llama3", "http://localhost:11434/v1", false],
    [
      "ollama/llama3",
      { baseUrl: null, ollamaBaseUrl: "http://box:11434" },
      "openai-chat",
      "llama3",
      "http://box:11434/v1",
      false,
    ],
    [
      "hosted_vllm/Qwen/Qwen3",
      at("http://gpu:8000"),
      "openai-chat",
      "Qwen/Qwen3",
      "http://gpu:8000/v1",
      false,
    ],
    [
      "gemini/gemini-2.5-pro",
      nowhere,
      "google",
      "gemini-2.5-pro",
      "https://generativelanguage.googleapis.com/v1beta",
      true,
    ],
    [
      "gemini/gemini-2.5-pro",
      at("https://generativelanguage.googleapis.com/v1beta/openai/"),
      "openai-chat",
      "gemini-2.5-pro",
      "https://generativelanguage.googleapis.com/v1beta/openai",
      true,
    ],
    [
      "bedrock/us.anthropic.claude-opus-4-6-v1",
      { ...nowhere, awsRegion: "eu-central-1" },
      "bedrock",
      "us.anthropic.claude-opus-4-6-v1",
      "https://bedrock-runtime.eu-central-1.amazonaws.com",
      true,
    ],
    [
      "openai/gpt-5",
      { ...nowhere, apiMode: "chat" },
      "openai-chat",
      "gpt-5",
      "https://api.openai.com/v1",
      true,
    ],
    [
      "openai/gpt-5",
      at("https://proxy.example/v1"),
      "openai-chat",
      "gpt-5",
      "https://proxy.example/v1",
      true,
    ],
    [
      "openai/gpt-4.1",
      { ...at("https://proxy.example/v1/responses"), apiMode: "responses" },
      "openai-responses",
      "gpt-4.1",
      "https://proxy.example/v1",
      true,
    ],
    [
      "openai_responses/x",
      at("http://127.0.0.1:9/v1"),
      "openai-responses",
      "x",
      "http://127.0.0.1:9/v1",
      false,
    ],
    [
      "azure/my-gpt",
      at("https://me.openai.azure.com"),
      "openai-chat",
      "my-gpt",
      "https://me.openai.azure.com/openai/deployments/my-gpt",
      true,
    ],
    [
      "azure/gpt-5",
      at("https://me.openai.azure.com/openai/v1/"),
      "openai-responses",
      "gpt-5",
      "https://me.openai.azure.com/openai/v1",
      true,
    ],
    [
      "openai/x",
      at("https://api.example/v1/chat/completions"),
      "openai-chat",
      "x",
      "https://api.example/v1",
      true,
    ],
    ["my-model", at("http://127.0.0.1:9/v1"), "openai-chat", "my-model", "http://127.0.0.1:9/v1", false],
    [
      "org/my-model",
      at("http://127.0.0.1:9/v1"),
      "openai-chat",
      "org/my-model",
      "http://127.0.0.1:9/v1",
      false,
    ],
    ["deepseek/deepseek-chat", nowhere, "openai-chat", "deepseek-chat", "https://api.deepseek.com/v1", true],
  ] as const)("%s", (name, options, wire, model, baseUrl, isKeyRequired) => {
    expect(routeOf(name, options)).toMatchObject({ wire, model, baseUrl, isKeyRequired });
  });

  test.each([
    ["my-model", nowhere, "llm.model", "openrouter/my-model"],
    ["", nowhere, "llm.model", "openai/gpt-5"],
    ["openai/", nowhere, "llm.model", "openai/<model>"],
    ["vertex_ai/gemini", nowhere, "llm.model", "litellm_proxy/<model>"],
    ["azure/gpt-5", nowhere, "llm.base_url", "address"],
    ["hosted_vllm/x", nowhere, "llm.base_url", "address"],
    ["openai/x", at("not a url"), "llm.base_url", "https://host/v1"],
    ["openai/x", at("file:///etc/passwd"), "llm.base_url", "https://host/v1"],
  ] as const)("%s fails with the field and the fix", (name, options, field, fix) => {
    expect(() => routeOf(name, options)).toThrow(new RegExp(`^${field}: .*${fix}`, "u"));
  });

  test.each([
    ["http://localhost:1", true],
    ["http://[::1]:1", true],
    ["http://10.1.2.3", true],
    ["http://172.20.0.1", true],
    ["http://vllm:8000", true],
    ["http://host.docker.internal:1", true],
    ["https://api.openai.com", false],
    ["http://172.32.0.1", false],
    ["https://localhost.example.com", false],
    ["http://[2001:db8::1]", false],
  ])("isLocalUrl %s", (url, expected) => {
    expect(isLocalUrl(url)).toBe(expected);
  });
});
