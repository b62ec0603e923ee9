import { ApiError, type ConvokeClient } from "@convoke/client";
import type { ShellFrame, ShellInput } from "@convoke/protocol";
import { Inputs } from "../lib/inputs.ts";

/** Callbacks of the terminal view. */
export type ShellScreen = {
  readonly take: (frame: Exclude<ShellFrame, { type: "refused" | "ended" }>) => void;
  /** The shell exited; null if the exit code is unknown. */
  readonly end: (exitCode: number | null) => void;
  /** The server's error message; null clears it. */
  readonly report: (problem: string | null) => void;
};

const retryMs = 1_000;

type Client = Pick<ConvokeClient, "attachShell">;

/** Connects one shell to its terminal view and reconnects until `stop`. Input during a disconnect is dropped. */
export class ShellLink {
  readonly #watching = new AbortController();
  #inputs = new Inputs<ShellInput>();

  constructor(client: Client, conversationId: string, shell: string, screen: ShellScreen) {
    void this.#watch(client, conversationId, shell, screen);
  }

  send(input: ShellInput): void {
    this.#inputs.push(input);
  }

  stop(): void {
    this.#watching.abort();
    this.#inputs.end();
  }

  async #watch(client: Client, id: string, shell: string, screen: ShellScreen): Promise<void> {
    const { signal } = this.#watching;
    while (!signal.aborted) {
      const inputs = new Inputs<ShellInput>();
      this.#inputs = inputs;
      try {
        for await (const frame of client.attachShell(id, { shell, inputs, signal })) {
          if (signal.aborted) return;
          if (frame.type === "ended") return screen.end(frame.exit_code);
          if (frame.type === "refused") screen.report(frame.reason);
          else screen.take(frame);
        }
      } catch (error) {
        if (signal.aborted) return;
        // A missing shell has exited; other closes are retried.
        if (error instanceof ApiError && error.status === 404) return screen.end(null);
        if (error instanceof ApiError) return screen.report(error.message);
      } finally {
        inputs.end();
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, retryMs);
        signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
      });
    }
  }
}
