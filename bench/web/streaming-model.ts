import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type StreamingModelOptions = {
  readonly tokensPerSecond?: number;
  /** Seconds that it continues; for ever when absent. */
  readonly tokensPerAnswer?: number;
};

/** A model that has written a long answer and continues with 50 tokens per second, or another rate, for every request. */
export class StreamingModel implements AsyncDisposable {
  readonly #server;
  /** Number of tokens of all answers. */
  tokens = 0;

  readonly #tokensPerSecond: number;
  readonly #tokensPerAnswer: number;

  private constructor({ tokensPerSecond = 50, tokensPerAnswer = Infinity }: StreamingModelOptions) {
    this.#tokensPerSecond = tokensPerSecond;
    this.#tokensPerAnswer = tokensPerAnswer;
    this.#server = createServer((request, response) => {
      request.resume().on("end", () => this.#answer(response));
    });
  }

  static async start(options: StreamingModelOptions = {}): Promise<StreamingModel> {
    const model = new StreamingModel(options);
    await new Promise<void>((resolve) => model.#server.listen(0, "127.0.0.1", resolve));
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  #answer(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (delta: object, finish_reason: string | null): void => {
      const choices = [{ index: 0, delta, finish_reason }];
      response.write(
        `data: ${JSON.stringify({ id: "bench", object: "chat.completion.chunk", choices })}\n\n`,
      );
    };
    const say = (content: string): void => send({ role: "assistant", content }, null);
    say(longText);
    const startMs = performance.now();
    let sentTokens = 0;
    // Timers are late on a busy machine: everything due is sent at once.
    const timer = setInterval(() => {
      const due = ((performance.now() - startMs) / 1_000) * this.#tokensPerSecond;
      for (; sentTokens < Math.min(due, this.#tokensPerAnswer); sentTokens += 1) {
        say(sentTokens % 40 === 39 ? "end.\n\n" : `word${sentTokens % 10} `);
        this.tokens += 1;
      }
      if (sentTokens < this.#tokensPerAnswer) return;
      clearInterval(timer);
      send({}, "stop");
      response.end("data: [DONE]\n\n");
    }, 1_000 / this.#tokensPerSecond);
    response.on("close", () => clearInterval(timer));
  }
}

/** 20 KB of typical agent text: paragraphs, lists and code. */
const part =
  "## What I found\n\nThe **server** reads its settings once and then keeps them, which is why the change of `port` was not seen. It is told below in three steps, each with its reason.\n\n- read the file again\n- compare it with what is there\n- tell who listens\n\n```ts\nconst settings = read(file);\nif (settings.port !== known.port) listen(settings.port);\n```\n\n";
const longText = `The beginning of it.\n\n${part.repeat(Math.ceil(20_000 / part.length))}`;
