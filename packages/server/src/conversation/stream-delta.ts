import { formatInstant } from "../lib/instant.ts";
import { nextUuid7 } from "../lib/uuid7.ts";
import { createStreamMask } from "../security/mask.ts";

type Kind = "text" | "reasoning";

/** The pieces of one answer as frames for whoever listens; a secret is hidden also where it comes in several pieces (P13). */
export class DeltaStream {
  readonly #emit: (frame: string) => void;
  readonly #masks: Readonly<Record<Kind, ReturnType<typeof createStreamMask>>>;

  constructor(emit: (frame: string) => void, secretValues: readonly string[]) {
    this.#emit = emit;
    this.#masks = { text: createStreamMask(secretValues), reasoning: createStreamMask(secretValues) };
  }

  push(type: Kind, text: string): void {
    this.#give(type, this.#masks[type].push(text));
  }

  /** What was held back because it might become a secret; `isCut`: the answer did not come to its end. */
  end(isCut: boolean): void {
    for (const type of ["reasoning", "text"] as const) {
      const mask = this.#masks[type];
      this.#give(type, isCut ? mask.cut() : mask.flush());
    }
  }

  #give(type: Kind, text: string): void {
    if (text !== "") this.#emit(deltaFrame(type, text));
  }
}

/** A piece of an answer while it is being made; broadcast only, and only where the agent's `llm.stream` is on. */
function deltaFrame(type: Kind, text: string): string {
  const nowMs = Date.now();
  return JSON.stringify({
    id: nextUuid7(null, nowMs),
    timestamp: formatInstant(nowMs * 1000),
    source: "agent",
    ...(type === "text" ? { content: text } : { reasoning_content: text }),
    kind: "StreamingDeltaEvent",
  });
}
