import type { ConvokeClient } from "@convoke/client";
import { expect, test } from "vitest";
import { chooseModel } from "./choose-model.ts";

type Answers = Readonly<Record<string, unknown>>;

/** A server without a model; `answers` replaces some of its replies. */
function serverWith(answers: Answers = {}): Pick<ConvokeClient, "call"> {
  const all: Answers = {
    "GET /api/profiles": { profiles: [], active_profile: null },
    "GET /api/settings": { llm_api_key_is_set: false },
    "GET /api/llm/local-servers": { servers: [] },
    ...answers,
  };
  return { call: (async (operation: string) => all[operation]) as ConvokeClient["call"] };
}

const ollama = { name: "Ollama", base_url: null, models: ["ollama/qwen3:8b", "ollama/gemma3"] };

test("flags win over the environment, and neither asks the server", async () => {
  const environment = {
    LLM_MODEL: "openai/gpt-5",
    LLM_API_KEY: "key",
    LLM_BASE_URL: "http://127.0.0.1:1/v1",
  };
  const nobody = { call: (() => Promise.reject(new Error("asked"))) as ConvokeClient["call"] };
  expect(await chooseModel(nobody, {}, environment)).toEqual({
    model: "openai/gpt-5",
    api_key: "key",
    base_url: "http://127.0.0.1:1/v1",
  });
  expect(await chooseModel(nobody, { model: "ollama/qwen3:8b" }, {})).toEqual({ model: "ollama/qwen3:8b" });
});

test.each([
  ["an active profile", { "GET /api/profiles": { active_profile: "fast" } }],
  ["a key in its settings", { "GET /api/settings": { llm_api_key_is_set: true } }],
])("a server with %s decides itself", async (_, answers) => {
  expect(await chooseModel(serverWith(answers), {}, {})).toEqual({});
});

test("without a model the error names one that answers here, or what to set", async () => {
  const found = serverWith({ "GET /api/llm/local-servers": { servers: [ollama] } });
  await expect(chooseModel(found, {}, {})).rejects.toThrow(
    "No model is set. Ollama answers on this machine: start again with --model ollama/qwen3:8b, or choose it on the page (convoke open). For another one set LLM_MODEL",
  );
  const elsewhere = { ...ollama, base_url: "http://127.0.0.1:11500/v1" };
  await expect(
    chooseModel(serverWith({ "GET /api/llm/local-servers": { servers: [elsewhere] } }), {}, {}),
  ).rejects.toThrow("start again with --model ollama/qwen3:8b --base-url http://127.0.0.1:11500/v1,");
  await expect(chooseModel(serverWith(), {}, {})).rejects.toThrow("Set LLM_MODEL");
});
