import type { RunDeps } from "../run/run-deps.ts";
import { openDeltas, type DeltaStream } from "../run/stream-delta.ts";
import type { Delta } from "./turn-mapping.ts";

/** The messages of a turn as they are said, one after another. */
export class TurnDeltas {
  readonly #deps: Pick<RunDeps, "configuration" | "log" | "signals">;
  #stream: DeltaStream | null = null;

  constructor(deps: Pick<RunDeps, "configuration" | "log" | "signals">) {
    this.#deps = deps;
  }

  push({ type, text }: Delta): void {
    this.#stream ??= openDeltas(this.#deps);
    this.#stream.push({ type, text });
  }

  /** The message is stored under this id; null for none. */
  end(messageId: string | null): void {
    this.#stream?.end(
      messageId === null ? { outcome: "void" } : { outcome: "done", llmResponseId: messageId },
    );
    this.#stream = null;
  }

  cut(): void {
    this.#stream?.end({ outcome: "cut" });
    this.#stream = null;
  }
}
