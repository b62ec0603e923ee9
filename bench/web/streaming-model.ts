import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A model that has written a long answer and goes on with 50 tokens a second, or as many as it is told, for every request that it gets. */
export class StreamingModel implements AsyncDisposable {
  readonly #server;
  /** Of all answers together. */
  tokens = 0;

  readonly #tokensPerSecond: number;

  private constructor(tokensPerSecond: number) {
    this.#tokensPerSecond = tokensPerSecond;
    this.#server = createServer((request, response) => {
      request.resume().on("end", () => this.#answer(response));
    });
  }

  static async start({ tokensPerSecond = 50 } = {}): Promise<StreamingModel> {
    const model = new StreamingModel(tokensPerSecond);
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
    const say = (content: string): void => {
      const choices = [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }];
      response.write(
        `data: ${JSON.stringify({ id: "bench", object: "chat.completion.chunk", choices })}\n\n`,
      );
    };
    say(longText);
    const startMs = performance.now();
    let said = 0;
    // A busy machine calls late: what is due by then is said at once.
    const timer = setInterval(() => {
      for (; said < ((performance.now() - startMs) / 1_000) * this.#tokensPerSecond; said += 1) {
        say(said % 40 === 39 ? "end.\n\n" : `word${said % 10} `);
        this.tokens += 1;
      }
    }, 1_000 / this.#tokensPerSecond);
    response.on("close", () => clearInterval(timer));
  }
}

/** 20 KB of what agents write: paragraphs, lists and code. */
const part =
  "## What I found\n\nThe **server** reads its settings once and then keeps them, which is why the change of `port` was not seen. It is told below in three steps, each with its reason.\n\n- read the file again\n- compare it with what is there\n- tell who listens\n\n```ts\nconst settings = read(file);\nif (settings.port !== known.port) listen(settings.port);\n```\n\n";
const longText = `The beginning of it.\n\n${part.repeat(Math.ceil(20_000 / part.length))}`;
