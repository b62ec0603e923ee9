import { emptyView, type ConversationView } from "@convoke/client";
import type { Paint } from "./paint.ts";
import type { Clock } from "@convoke/server";

export type WaitNotesDeps = {
  readonly output: { readonly isTTY?: boolean; write(text: string): unknown };
  readonly paint: Paint;
  readonly clock: Clock;
};

/** Updated each second on a terminal, and seldom in a file or a pipe, where every note stays. */
const everyMs = { terminal: 1_000, file: 20_000 } as const;
/** Shorter waits are no news. */
const quietMs = 3_000;

/**
 * Shows what a run waits for while there is no other output: on a terminal in one line that goes when the next thing comes.
 * Notes go between the lines of {@link write}.
 */
export class WaitNotes implements Disposable {
  readonly #deps: WaitNotesDeps;
  readonly #timer: NodeJS.Timeout;
  #view = emptyView;
  #sinceMs: number;
  #isShown = false;

  constructor(deps: WaitNotesDeps) {
    this.#deps = deps;
    this.#sinceMs = deps.clock.nowMs();
    const every = deps.output.isTTY === true ? everyMs.terminal : everyMs.file;
    this.#timer = setInterval(() => this.#note(), every);
    this.#timer.unref();
  }

  /** Call it after every event, before its lines are written. */
  see(view: ConversationView): void {
    this.#sinceMs = this.#deps.clock.nowMs();
    this.#view = view;
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
    const { output, paint, clock } = this.#deps;
    const waitedMs = clock.nowMs() - this.#sinceMs;
    if (this.#view.status !== "running" || waitedMs < quietMs) return;
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
    const { openActions, retry } = this.#view;
    const tools = [...new Set(openActions.map(({ toolName }) => toolName))];
    if (tools.length > 0) return `running ${tools.join(", ")}`;
    if (retry === null) return "waiting for the model";
    if (retry.code === "MCPServersStarting") return "waiting for MCP servers to start";
    const leftMs = (retry.until === null ? 0 : Date.parse(retry.until)) - this.#deps.clock.nowMs();
    return leftMs > 0
      ? `retrying the model call in ${Math.ceil(leftMs / 1000)} s`
      : "waiting for the model (retry)";
  }

  #erase(): void {
    if (this.#isShown) this.#deps.output.write("\r\u001b[2K");
    this.#isShown = false;
  }
}
