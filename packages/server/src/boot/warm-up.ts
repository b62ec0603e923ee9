import { SendMessageRequest, StartConversationRequest } from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import { loadTerminal } from "@convoke/tool-host";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Walls } from "../walls/wall.ts";
import { openModel } from "../models/open-model.ts";

/** Starts after the first answers of a new process. */
const startAfterMs = 100;
/** A pause between two steps, so that requests are answered meanwhile. */
const pauseMs = 20;

/**
 * Loads and compiles the code of the first request and the first turn, step by step, while a new server is idle:
 * together it takes as long as ten turns. It connects to itself alone. Rejects when `signal` aborts.
 */
export async function warmUp(
  { validator, walls }: { readonly validator: Validator; readonly walls: Walls | null },
  signal: AbortSignal,
): Promise<void> {
  const message = { role: "user", content: [{ type: "text", text: "." }] };
  const steps = [
    () =>
      validator.check(StartConversationRequest, {
        agent: { llm: { model: "none" }, tools: [{ name: "none" }] },
        workspace: { working_dir: "/" },
        initial_message: message,
      }),
    () => validator.check(SendMessageRequest, message),
    // Behind walls the terminals are in other processes.
    () => (walls === null ? loadTerminal() : walls.isRefused("/")),
    () => askLocalModel(signal),
  ];
  await sleep(startAfterMs, undefined, { signal, ref: false });
  for (const step of steps) {
    await step();
    await sleep(pauseMs, undefined, { signal, ref: false });
  }
}

/** One request of the most used model adapter, answered in pieces over a connection, as a provider answers. */
async function askLocalModel(signal: AbortSignal): Promise<void> {
  await using provider = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", connection: "close" });
    response.write(answer);
    response.end(answerEnd);
  });
  provider.listen(0, "127.0.0.1");
  await once(provider, "listening", { signal });
  const { port } = provider.address() as AddressInfo;
  const model = openModel({
    model: "openai/none",
    base_url: `http://127.0.0.1:${port}/v1`,
    api_key: "none",
    num_retries: 0,
  });
  const request = {
    messages: [{ role: "user" as const, content: [{ type: "text" as const, text: "." }] }],
    tools: [],
    cacheKey: "none",
  };
  for await (const part of model.stream(request, signal)) if (part.type === "failed") return;
}

const answer = `data: ${JSON.stringify({ id: "none", choices: [{ index: 0, delta: { content: "." }, finish_reason: "stop" }] })}\n\n`;
const answerEnd = "data: [DONE]\n\n";
