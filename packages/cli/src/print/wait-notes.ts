import type { Event } from "@convoke/protocol";
import type { Paint } from "./paint.ts";

export type WaitNotesDeps = {
  readonly output: { readonly isTTY?: boolean; write(text: string): unknown };
  readonly paint: Paint;
  readonly nowMs: () => number;
};

/** A terminal is told each second; a file or a pipe, where every note stays, seldom. */
const everyMs = { terminal: 1_000, file: 20_000 } as const;
/** Shorter waits are no news. */
const quietMs = 3_000;

/**
 * Says what a run waits for while nothing else is to be said: on a terminal in one line that goes when the next thing comes.
 * Notes go between the lines of {@link write}.
 */
export class WaitNotes implements Disposable {
  readonly #deps: WaitNotesDeps;
  readonly #timer: NodeJS.Timeout;
  readonly #calls = new Map<string, string>();
  #isRunning = false;
  /** While another try is waited for: when it goes out, in epoch milliseconds. */
  #retryAtMs: number | null = null;
  #sinceMs: number;
  #isShown = false;

  constructor(deps: WaitNotesDeps) {
    this.#deps = deps;
    this.#sinceMs = deps.nowMs();
    const every = deps.output.isTTY === true ? everyMs.terminal : everyMs.file;
    this.#timer = setInterval(() => this.#note(), every);
    this.#timer.unref();
  }

  /** To be told of every event, before its lines are written. */
  see(event: Event): void {
    this.#sinceMs = this.#deps.nowMs();
    if (event.kind === "ActionEvent" && event.action) this.#calls.set(event.id!, event.tool_name);
    if ("action_id" in event && typeof event.action_id === "string") this.#calls.delete(event.action_id);
    // It does not name its action; what else is in progress shows itself.
    if (event.kind === "AgentErrorEvent") this.#calls.clear();
    if (event.kind !== "ConversationStateUpdateEvent") return;
    if (event.key === "execution_status") this.#isRunning = event.value === "running";
    if (event.key === "model_retry") this.#retryAtMs = readRetry(event.value);
  }

  write(lines: readonly string[]): void {
    this.#erase();
    if (lines.length > 0) this.#deps.output.write(`${lines.join("\n")}\n`);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#erase();
  }

  #note(): void {
    const { output, paint, nowMs } = this.#deps;
    const waitedMs = nowMs() - this.#sinceMs;
    if (!this.#isRunning || waitedMs < quietMs) return;
    const text = paint.dim(`... ${this.#what()} (${Math.round(waitedMs / 1000)} s)`);
    if (output.isTTY !== true) {
      output.write(`${text}\n`);
      return;
    }
    this.#erase();
    output.write(text);
    this.#isShown = true;
  }

  #what(): string {
    const tools = [...new Set(this.#calls.values())];
    if (tools.length > 0) return `${tools.join(", ")} at work`;
    if (this.#retryAtMs === null) return "waiting for the model";
    const leftMs = this.#retryAtMs - this.#deps.nowMs();
    return leftMs > 0
      ? `the model is asked again in ${Math.ceil(leftMs / 1000)} s`
      : "waiting for the model, which was asked again";
  }

  #erase(): void {
    if (this.#isShown) this.#deps.output.write("\r\u001b[2K");
    this.#isShown = false;
  }
}

/** Null when nothing is waited for any more; 0 when the other try goes out at once. */
function readRetry(value: unknown): number | null {
  if (typeof value !== "object" || value === null) return null;
  const { until } = value as { until?: unknown };
  return typeof until === "string" ? Date.parse(until) || 0 : 0;
}
