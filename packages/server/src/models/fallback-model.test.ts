import type { LLM } from "@convoke/protocol";
import { describe, expect, test } from "vitest";
import { startScriptedModel, type ScriptTurn } from "../testing/scripted-model/scripted-model.ts";
import { collect, doneOf, failureOf, requestOf, textOf, userMessage } from "./contract-bench.ts";
import { createFastModelClock } from "./clock.ts";
import { openModel } from "./open-model.ts";
import type { ModelPart } from "./model.ts";
import { choose } from "./router-model.ts";

async function ask(
  main: ScriptTurn,
  profiles: Readonly<Record<string, ScriptTurn>>,
  llm: object,
  leaving: AbortController | null = null,
) {
  await using servers = new AsyncDisposableStack();
  const serve = async (turn: ScriptTurn): Promise<LLM> => {
    const server = servers.use(await startScriptedModel({ script: { turns: [turn], loop: true } }));
    return { model: "anthropic/claude-sonnet-4-5", base_url: server.url, api_key: "k", num_retries: 1 };
  };
  const saved = new Map<string, LLM>();
  for (const [name, turn] of Object.entries(profiles)) saved.set(name, await serve(turn));
  const model = openModel(
    { ...(await serve(main)), ...llm },
    { clock: createFastModelClock(200), findProfile: (name) => saved.get(name) ?? null },
  );
  if (leaving === null) return await collect(model);
  const parts: ModelPart[] = [];
  const request = { ...requestOf([userMessage("Go.")]), leaving: leaving.signal };
  for await (const part of model.stream(request, new AbortController().signal)) {
    if (part.type === "text") leaving.abort();
    parts.push(part);
  }
  return parts;
}

const fallback = (...names: string[]) => ({ fallback_strategy: { fallback_llms: names } });
const down: ScriptTurn = { error: { status: 503 } };

describe("fallbacks", () => {
  test("L23.32: the next model answers when the first one is down, and the wait is void", async () => {
    const parts = await ask(
      down,
      { second: down, third: { text: "I am third." } },
      fallback("second", "third"),
    );
    expect(parts.map(({ type }) => type)).toEqual(["retry", "retry", "text", "done"]);
    expect(textOf(parts)).toBe("I am third.");
  });

  test("P43, F9: no other model is asked once the request is left", async () => {
    const broken = {
      text: "some words that break off before their end",
      chunk_size: 4,
      cut_after_bytes: 900,
    };
    const parts = await ask(broken, { second: { text: "No." } }, fallback("second"), new AbortController());
    expect(textOf(parts)).not.toContain("No.");
    expect(parts.filter(({ type }) => type === "retry")).toEqual([]);
  });

  test("each call is logged where the first model's are, also that of a fallback", async () => {
    const llm = { ...fallback("second"), log_completions: true };
    const parts = await ask(down, { second: { text: "I am second." } }, llm);
    const logs = parts.flatMap((part) => (part.type === "log" ? [part.log] : []));
    expect(logs).toMatchObject([
      { isError: true, data: { error: { type: "LLMServiceUnavailableError" } } },
      { isError: false, data: { response: { content: "I am second." } } },
    ]);
  });

  test("P48, L23.32: tokens of attempts that failed are recorded with the answer", async () => {
    const cut: ScriptTurn = { text: "x".repeat(500), cut_after_bytes: 1200, usage: { prompt_tokens: 70 } };
    const parts = await ask(cut, { second: { text: "ok" } }, fallback("second"));
    expect(doneOf(parts).spent).toMatchObject([{ usage: { promptTokens: 70 } }]);
    const failed = (await ask(cut, {}, {})).at(-1);
    expect(failed).toMatchObject({ type: "failed", spent: [{ usage: { promptTokens: 70 } }] });
  });

  test.each<[string, ScriptTurn, string]>([
    ["is too long", { overflow: true }, "LLMContextWindowExceedError"],
    ["is wrong", { error: { status: 400 } }, "LLMBadRequestError"],
  ])("a request that %s is not sent elsewhere", async (_, turn, code) => {
    const parts = await ask(turn, { second: { text: "no" } }, fallback("second"));
    expect(parts.map(({ type }) => type)).toEqual(["failed"]);
    expect(failureOf(parts).code).toBe(code);
  });

  test("a profile that is missing is named", async () => {
    const { detail } = failureOf(await ask(down, {}, fallback("gone")));
    expect(detail).toContain("The fallback profile gone does not exist.");
  });
});

describe("routers", () => {
  const image = { type: "image" as const, image_urls: ["data:image/png;base64,AAAA"] };
  const multimodal = (limit: number | null) =>
    ({ kind: "MultimodalRouter", primary: "eyes", secondary: "cheap", secondaryInputTokens: limit }) as const;

  test("images and long requests go to the primary", () => {
    const plain = requestOf([userMessage("Hi")]);
    const seen = requestOf([{ role: "user", content: [image] }]);
    const random = () => 0;
    expect(choose(multimodal(null), plain, random)).toBe("cheap");
    expect(choose(multimodal(null), seen, random)).toBe("eyes");
    expect(choose(multimodal(10), plain, random)).toBe("eyes");
    const any = { kind: "RandomRouter", profiles: ["a", "b"] } as const;
    expect([0, 0.49, 0.5, 0.99].map((value) => choose(any, plain, () => value))).toEqual([
      "a",
      "a",
      "b",
      "b",
    ]);
  });

  test("a router asks saved models", async () => {
    const router = { kind: "RandomRouter", llms_for_routing: ["one"] };
    expect(textOf(await ask(down, { one: { text: "routed" } }, { router }))).toBe("routed");
    expect(failureOf(await ask(down, {}, { router })).detail).toContain("The profile one");
    await expect(ask(down, {}, { router: { kind: "Other" } })).rejects.toThrow("llm.router");
  });
});
