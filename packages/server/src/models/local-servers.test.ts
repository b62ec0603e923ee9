import { expect, test } from "vitest";
import { findLocalServers } from "./local-servers.ts";
import type { Send } from "./provider-fetch.ts";

const list = (ids: readonly string[], owner = "library"): object => ({
  object: "list",
  data: ids.map((id) => ({ id, object: "model", owned_by: owner })),
});

/** Answers by address; every other address refuses. */
function answering(answers: Readonly<Record<string, unknown>>): Send & { readonly asked: string[] } {
  const asked: string[] = [];
  const send: Send = async (input) => {
    const url = input instanceof Request ? input.url : input.toString();
    asked.push(url);
    const answer = answers[new URL(url).host];
    if (answer === undefined) throw new TypeError("fetch failed");
    return answer instanceof Response ? answer : Response.json(answer);
  };
  return Object.assign(send, { asked });
}

test("Ollama is found at its usual address, without its embedding models and without a base URL", async () => {
  const send = answering({ "127.0.0.1:11434": list(["qwen3:8b", "nomic-embed-text:latest"]) });
  expect(await findLocalServers({ send, ollamaHost: null })).toEqual([
    { name: "Ollama", base_url: null, models: ["ollama/qwen3:8b"] },
  ]);
  expect(send.asked.every((url) => url.startsWith("http://127.0.0.1:") && url.endsWith("/v1/models"))).toBe(
    true,
  );
});

test("several servers are found, each with what its models need", async () => {
  const send = answering({
    "127.0.0.1:1234": list(["qwen/qwen3-4b"], "organization_owner"),
    "127.0.0.1:8080": list(["ggml-model.gguf"], "llamacpp"),
    "127.0.0.1:8000": list(["Qwen/Qwen3-8B"], "vllm"),
  });
  expect(await findLocalServers({ send, ollamaHost: null })).toEqual([
    { name: "LM Studio", base_url: null, models: ["lm_studio/qwen/qwen3-4b"] },
    { name: "llama.cpp", base_url: "http://127.0.0.1:8080/v1", models: ["openai/ggml-model.gguf"] },
    { name: "vLLM", base_url: "http://127.0.0.1:8000/v1", models: ["hosted_vllm/Qwen/Qwen3-8B"] },
  ]);
});

test.each([
  ["127.0.0.1:11500", "http://127.0.0.1:11500"],
  ["0.0.0.0:11500", "http://127.0.0.1:11500"],
  ["http://localhost:80", "http://127.0.0.1:80"],
  ["localhost", "http://127.0.0.1:11434"],
  ["[::]:11500", "http://127.0.0.1:11500"],
  ["gpu.example:11500", "http://127.0.0.1:11434"],
  ["https://localhost:11500", "http://127.0.0.1:11434"],
  ["not an address", "http://127.0.0.1:11434"],
])("OLLAMA_HOST=%s asks %s", async (ollamaHost, address) => {
  const send = answering({});
  await findLocalServers({ send, ollamaHost });
  expect(send.asked[0]).toBe(`${address}/v1/models`);
});

test("models of an Ollama at another port carry their base URL", async () => {
  const send = answering({ "127.0.0.1:11500": list(["qwen3:8b"]) });
  expect(await findLocalServers({ send, ollamaHost: "127.0.0.1:11500" })).toEqual([
    { name: "Ollama", base_url: "http://127.0.0.1:11500/v1", models: ["ollama/qwen3:8b"] },
  ]);
});

test.each<[string, unknown]>([
  ["a page", new Response("<html>", { headers: { "content-type": "text/html" } })],
  ["a refusal", new Response("{}", { status: 401 })],
  ["other JSON", { models: [] }],
  ["a list of another program", list(["anything"], "somebody")],
  ["an endless list", new Response("[".repeat(2_000_000))],
])("a port with %s is no model server", async (_, answer) => {
  expect(await findLocalServers({ send: answering({ "127.0.0.1:8080": answer }), ollamaHost: null })).toEqual(
    [],
  );
});

test("a server without models is listed without any", async () => {
  const send = answering({ "127.0.0.1:11434": { object: "list", data: null }, "127.0.0.1:1234": list([]) });
  expect(await findLocalServers({ send, ollamaHost: null })).toEqual([
    { name: "Ollama", base_url: null, models: [] },
    { name: "LM Studio", base_url: null, models: [] },
  ]);
});

test("a server that never answers delays the list for the timeout only", async () => {
  const send: Send = (_, init) =>
    new Promise((_resolve, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  expect(await findLocalServers({ send, ollamaHost: null, timeoutMs: 20 })).toEqual([]);
});
