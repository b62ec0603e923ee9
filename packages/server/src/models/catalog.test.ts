import { describe, expect, test } from "vitest";
import { findModelFacts } from "./catalog.ts";
import { costOf, noTokens, priceWith } from "./usage.ts";

describe("catalogue", () => {
  test.each([
    "claude-sonnet-4-5",
    "anthropic/claude-sonnet-4-5",
    "claude-sonnet-4-5-20250929",
    "Claude-Sonnet-4.5",
    "litellm_proxy/anthropic/claude-sonnet-4-5-20250929",
    "claude-sonnet-4-5@20250929",
    "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "claude-sonnet-4-5-latest",
  ])("finds %s", (name) => {
    expect(findModelFacts(name)).toMatchObject({
      isKnown: true,
      contextWindow: 200_000,
      outputLimit: 64_000,
    });
  });

  test.each([
    "gpt-5",
    "gpt-5-2025-08-07",
    "gpt-5.5",
    "o3",
    "gpt-4.1-mini",
    "claude-sonnet-4-20250514",
    "claude-opus-4-1",
    "gemini-2.5-pro",
    "gemini/gemini-2.5-flash",
    "deepseek/deepseek-chat",
    "xai/grok-4",
    "mistral/mistral-large-latest",
    "moonshot/kimi-k2.6",
    "zai/glm-4.5",
    "qwen3-coder-plus",
    "groq/llama-3.3-70b-versatile",
    "openrouter/anthropic/claude-sonnet-4.5",
  ])("knows the price of %s", (name) => {
    const facts = findModelFacts(name);
    expect(facts.isKnown).toBe(true);
    expect(facts.price?.input).toBeGreaterThan(0);
    expect(facts.price?.output).toBeGreaterThanOrEqual(facts.price?.input ?? 1);
    expect(facts.contextWindow).toBeGreaterThan(16_000);
  });

  test("an unknown model has a window and no price", () => {
    expect(findModelFacts("acme/wonder-1")).toMatchObject({
      isKnown: false,
      contextWindow: 128_000,
      price: null,
    });
  });

  test("names of objects are not models", () => {
    expect(findModelFacts("constructor").isKnown).toBe(false);
    expect(findModelFacts("").isKnown).toBe(false);
  });
});

describe("cost", () => {
  const price = { input: 3e-6, output: 15e-6, cacheRead: 0.3e-6, cacheWrite: 3.75e-6 };

  test("cached parts are counted once, at their own prices", () => {
    const tokens = {
      ...noTokens,
      promptTokens: 1000,
      completionTokens: 100,
      cacheReadTokens: 600,
      cacheWriteTokens: 300,
    };
    expect(costOf(tokens, price)).toBeCloseTo(100 * 3e-6 + 600 * 0.3e-6 + 300 * 3.75e-6 + 100 * 15e-6, 12);
    expect(costOf(tokens, null)).toBeNull();
  });

  test("configured prices win", () => {
    expect(priceWith(price, { input: null, output: null })).toEqual(price);
    expect(priceWith(price, { input: 1e-6, output: null })).toEqual({
      input: 1e-6,
      output: 15e-6,
      cacheRead: 1e-6,
      cacheWrite: 1e-6,
    });
    expect(priceWith(null, { input: 1e-6, output: 2e-6 })?.output).toBe(2e-6);
  });
});
