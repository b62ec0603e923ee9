import { SendMessageRequest, StartConversationRequest } from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import { loadTerminal } from "@convoke/tool-host";
import { setTimeout as sleep } from "node:timers/promises";
import { openModel } from "../models/open-model.ts";

/** Starts after the first answers of a new process. */
const startAfterMs = 100;
/** A pause between two steps, so that requests are answered meanwhile. */
const pauseMs = 20;

/**
 * Loads and compiles the code of the first request and the first turn, step by step, while a new server is idle:
 * together it takes as long as ten turns. It sends nothing. Rejects when `signal` aborts.
 */
export async function warmUp(
  { validator }: { readonly validator: Validator },
  signal: AbortSignal,
): Promise<void> {
  const steps = [
    async () => (await fetch("data:,")).text(),
    () => validator.check(StartConversationRequest, { agent: { llm: {} }, workspace: { working_dir: "/" } }),
    () => validator.check(SendMessageRequest, { content: "" }),
    () => askFromMemory(signal),
    () => loadTerminal(),
  ];
  await sleep(startAfterMs, undefined, { signal, ref: false });
  for (const step of steps) {
    await step();
    await sleep(pauseMs, undefined, { signal, ref: false });
  }
}

/** One request of the most used model adapter, answered by a stub. */
async function askFromMemory(signal: AbortSignal): Promise<void> {
  const model = openModel(
    { model: "openai/none", base_url: "http://127.0.0.1/v1", api_key: "none", num_retries: 0 },
    { send: async () => new Response(answer, { headers: { "content-type": "text/event-stream" } }) },
  );
  const request = {
    messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "." }] }],
    tools: [],
    cacheKey: "none",
  };
  for await (const part of model.stream(request, signal)) if (part.type === "failed") return;
}

const answer = `data: ${JSON.stringify({ id: "none", choices: [{ index: 0, delta: { content: "." }, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;
