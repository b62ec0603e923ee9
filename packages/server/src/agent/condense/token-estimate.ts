import type { ImageContent, TextContent } from "@convoke/protocol";
import type { ModelMessage, ModelTool } from "../../models/model.ts";

/** How a family of models turns characters into tokens, roughly. */
type Rates = {
  readonly charactersPerToken: number;
  /** Tokens for each byte that a character needs beyond its first. */
  readonly perExtraByte: number;
  readonly perImage: number;
};

const families: readonly (readonly [RegExp, Rates])[] = [
  [/claude/iu, { charactersPerToken: 3.4, perExtraByte: 0.45, perImage: 1600 }],
  [/gpt-|(?:^|\/)o[1-9]|codex/iu, { charactersPerToken: 3.9, perExtraByte: 0.3, perImage: 1100 }],
  [/gemini|gemma/iu, { charactersPerToken: 3.9, perExtraByte: 0.3, perImage: 1300 }],
  [/qwen|deepseek|glm|kimi/iu, { charactersPerToken: 3.6, perExtraByte: 0.25, perImage: 1300 }],
];
const usual: Rates = { charactersPerToken: 3.5, perExtraByte: 0.4, perImage: 1300 };

const perMessage = 4;
const perCall = 10;
const perTool = 12;

/**
 * Tokens of messages and tools without a tokenizer: linear in the text, no library, no table to load. What it gets wrong is
 * corrected with what providers report, see `TokenMeter`. Counts of messages are remembered as long as the messages live.
 */
export class TokenEstimate {
  readonly #rates: Rates;
  readonly #known = new WeakMap<ModelMessage, number>();

  /** `model` as configured, e.g. `anthropic/claude-sonnet-4-5`. */
  constructor(model: string) {
    this.#rates = families.find(([names]) => names.test(model))?.[1] ?? usual;
  }

  text(text: string): number {
    const extraBytes = Buffer.byteLength(text) - text.length;
    return text.length / this.#rates.charactersPerToken + extraBytes * this.#rates.perExtraByte;
  }

  messages(messages: readonly ModelMessage[]): number {
    let sum = 0;
    for (const message of messages) sum += this.message(message);
    return sum;
  }

  message(message: ModelMessage): number {
    const known = this.#known.get(message);
    if (known !== undefined) return known;
    const tokens = Math.ceil(perMessage + this.#content(message.content) + this.#rest(message));
    this.#known.set(message, tokens);
    return tokens;
  }

  tools(tools: readonly ModelTool[]): number {
    return Math.ceil(tools.reduce((sum, tool) => sum + perTool + this.text(JSON.stringify(tool)), 0));
  }

  #content(content: readonly (TextContent | ImageContent)[]): number {
    return content.reduce(
      (sum, part) =>
        sum + ("image_urls" in part ? part.image_urls.length * this.#rates.perImage : this.text(part.text)),
      0,
    );
  }

  #rest(message: ModelMessage): number {
    if (message.role !== "assistant") return 0;
    const { toolCalls, thinkingBlocks, reasoningItem, reasoningContent } = message;
    const calls = toolCalls.reduce(
      (sum, call) => sum + perCall + this.text(call.name) + this.text(call.arguments),
      0,
    );
    const thinking = thinkingBlocks.reduce(
      (sum, block) => sum + this.text("thinking" in block ? block.thinking : block.data),
      0,
    );
    const item = reasoningItem === null ? 0 : this.text(JSON.stringify(reasoningItem));
    return calls + thinking + item + this.text(reasoningContent ?? "");
  }
}
