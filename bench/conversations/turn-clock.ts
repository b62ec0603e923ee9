import type { Model, ModelPart, ModelRequest } from "../../packages/server/src/models/model.ts";

/** A model without delay that calls one tool per turn and records the time of each request. */
export class TurnClock implements Model {
  readonly name = "bench/turn-clock";
  readonly isVisionEnabled = true;
  readonly #toolName: "terminal" | "grep";
  #callCount = 0;
  #turnsLeft = 0;
  #askedAtMs: number[] = [];
  #onLast: (askedAtMs: readonly number[]) => void = () => {};

  constructor(toolName: "terminal" | "grep") {
    this.#toolName = toolName;
  }

  /** Makes the next run call the tool `turns` times and finish; resolves with the time of each request, including the last. */
  arm(turns: number): Promise<readonly number[]> {
    this.#turnsLeft = turns;
    this.#askedAtMs = [];
    return new Promise((resolve) => {
      this.#onLast = resolve;
    });
  }

  async *stream(_request: ModelRequest): AsyncGenerator<ModelPart> {
    this.#askedAtMs.push(performance.now());
    this.#callCount += 1;
    const isLast = this.#turnsLeft === 0;
    if (isLast) this.#onLast(this.#askedAtMs);
    else this.#turnsLeft -= 1;
    const id = `call_${this.#callCount}`;
    const argument = this.#toolName === "grep" ? "pattern" : "command";
    const call = isLast
      ? { name: "finish", arguments: '{"message":"done"}' }
      : { name: this.#toolName, arguments: JSON.stringify({ [argument]: `echo ${this.#callCount}` }) };
    yield {
      type: "done",
      response: {
        id: `response_${this.#callCount}`,
        model: this.name,
        message: {
          role: "assistant",
          content: [],
          toolCalls: [{ id, origin: "completion", ...call }],
          reasoningContent: null,
          thinkingBlocks: [],
          reasoningItem: null,
        },
        usage: noUsage,
        latencyMs: 0,
        isTruncated: false,
      },
    };
  }
}

const noUsage = {
  promptTokens: 1000,
  completionTokens: 20,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  contextWindow: 200_000,
  cost: null,
};
