import type { LLM } from "@convoke/protocol";
import {
  startScriptedModel,
  type RecordedRequest,
  type Script,
  type ScriptTurn,
  type ScriptedModelServer,
} from "../testing/scripted-model/scripted-model.ts";
import { createFastModelClock, type ModelClock } from "./clock.ts";
import type {
  AssistantMessage,
  Model,
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelResponse,
} from "./model.ts";

/** What the suite asks of a backend: a model at this address, with these limits. Waits of seconds pass in milliseconds. */
export type OpenContractModel = (options: ContractModelOptions) => Model;

export type ContractModelOptions = {
  readonly url: string;
  readonly apiKey: string;
  readonly clock: ModelClock;
  readonly attempts: number;
  readonly timeoutSeconds: number;
};

/** An LLM object for a test: what a backend adds, and waits that pass quickly. */
export function contractLlm(options: ContractModelOptions, route: LLM): LLM {
  return {
    ...route,
    api_key: options.apiKey,
    num_retries: options.attempts,
    timeout: options.timeoutSeconds,
    retry_min_wait: 1,
    retry_max_wait: 2,
    retry_multiplier: 1,
  };
}

export const apiKey = "test-key-9f8e7d6c5b4a";

/** A clock that advances only when the test says so. */
export class SteppedClock implements ModelClock {
  #nowMs = 0;
  readonly #sleepers = new Set<{ readonly dueMs: number; readonly wake: () => void }>();

  nowMs(): number {
    return this.#nowMs;
  }

  random(): number {
    return 0;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    for (const sleeper of this.#sleepers) if (sleeper.dueMs <= this.#nowMs) sleeper.wake();
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const sleeper = { dueMs: this.#nowMs + ms, wake: resolve };
      this.#sleepers.add(sleeper);
      signal.addEventListener("abort", () => reject(new Error("The sleep was ended.")), { once: true });
    });
  }
}

/** One scripted server at a time, and a model of the backend under test that talks to it. */
export class ContractBench {
  readonly #open: OpenContractModel;
  #server: ScriptedModelServer | undefined;

  constructor(open: OpenContractModel) {
    this.#open = open;
  }

  get requests(): readonly RecordedRequest[] {
    return this.#server?.requests ?? [];
  }

  async start(script: Script | ScriptTurn[], more: Partial<ContractModelOptions> = {}): Promise<Model> {
    await this.stop();
    const server = await startScriptedModel({ script: Array.isArray(script) ? { turns: script } : script });
    this.#server = server;
    const clock = createFastModelClock(200);
    return this.#open({ url: server.url, apiKey, clock, attempts: 1, timeoutSeconds: 3600, ...more });
  }

  async run(script: Script | ScriptTurn[], more: Partial<ContractModelOptions> = {}): Promise<ModelPart[]> {
    return await collect(await this.start(script, more));
  }

  async stop(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    this.#server = undefined;
  }
}

export const silent: AssistantMessage = {
  role: "assistant",
  content: [],
  toolCalls: [],
  reasoningContent: null,
  thinkingBlocks: [],
  reasoningItem: null,
};

export function userMessage(text: string): ModelMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

export function toolResult(toolCallId: string, name: string, text: string): ModelMessage {
  return { role: "tool", toolCallId, name, content: [{ type: "text", text }] };
}

export function requestOf(messages: readonly ModelMessage[]): ModelRequest {
  const parameters = { type: "object", properties: { path: { type: "string" } } };
  return {
    messages,
    tools: [{ name: "look", description: "Looks.", parameters }],
    cacheKey: "conversation-1",
  };
}

export async function collect(
  model: Model,
  messages: readonly ModelMessage[] = [userMessage("Go.")],
  signal: AbortSignal = new AbortController().signal,
): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const part of model.stream(requestOf(messages), signal)) parts.push(part);
  return parts;
}

export function doneOf(parts: readonly ModelPart[]): ModelResponse {
  const last = parts.at(-1);
  if (last?.type !== "done") throw new Error(`The stream ended with ${JSON.stringify(last)}`);
  return last.response;
}

export function failureOf(parts: readonly ModelPart[]): Extract<ModelPart, { type: "failed" }>["error"] {
  const last = parts.at(-1);
  if (last?.type !== "failed") throw new Error(`The stream ended with ${JSON.stringify(last)}`);
  return last.error;
}

export function textOf(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

export function argumentsOf(parts: readonly ModelPart[], index: number): string {
  return parts
    .map((part) => (part.type === "tool-arguments" && part.index === index ? part.text : ""))
    .join("");
}
