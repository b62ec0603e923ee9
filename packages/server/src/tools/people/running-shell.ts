import { setTimeout as sleep } from "node:timers/promises";
import { attachPerson, LiveView } from "@convoke/tool-host";
import type { PersonShell, ShellInput, TerminalSize, TerminalUpdate, ToolSecret } from "@convoke/tool-host";
import { describeError } from "../../lib/describe-error.ts";

export type ShellInfo = TerminalSize & {
  readonly id: string;
  readonly createdAtMs: number;
  readonly isRunning: boolean;
  /** Null while it runs, and where nobody knows. */
  readonly exitCode: number | null;
};

export type RunningShellDeps = {
  readonly id: string;
  readonly shell: PersonShell;
  readonly size: TerminalSize;
  readonly createdAtMs: number;
  /** Secrets to hide; asked before each chunk of output. Returns the same array while nothing has changed. */
  readonly secrets: () => readonly ToolSecret[];
};

/** Characters of what was shown, at least; twice as many at most. */
const maxScrollback = 524_288;

/** What floods the screen is held: so many characters in so long. */
const burst = { characters: 400_000, ms: 100 } as const;

/** A running shell of a person with its scrollback, for any number of attached screens. */
export class RunningShell implements AsyncDisposable {
  readonly #deps: RunningShellDeps;
  readonly #view: LiveView;
  #size: TerminalSize;
  #secrets: readonly ToolSecret[] = [];
  #isRunning = true;
  #exitCode: number | null = null;

  constructor(deps: RunningShellDeps) {
    this.#deps = deps;
    this.#size = deps.size;
    this.#view = new LiveView([], { maxScrollback, size: deps.size });
    void this.#read().finally(() => this.#view.end());
  }

  get info(): ShellInfo {
    const { id, createdAtMs } = this.#deps;
    return { id, createdAtMs, ...this.#size, isRunning: this.#isRunning, exitCode: this.#exitCode };
  }

  /** What a person sees, until `signal` aborts, the inputs end or the shell does; it stays when they leave. */
  attach(inputs: AsyncIterable<ShellInput>, signal: AbortSignal): AsyncIterable<TerminalUpdate> {
    const view = this.#view;
    const thing = {
      watch: (person: object) => view.watch(person),
      act: (_person: object, input: ShellInput) => this.#act(input),
      refuse: (person: object, reason: string) => view.send(person, { type: "refused", reason }),
      leave: () => {},
    };
    return attachPerson(thing, inputs, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#deps.shell[Symbol.asyncDispose]();
  }

  #act(input: ShellInput): string | null {
    if (!this.#isRunning) return "The shell has ended.";
    this.#deps.shell.act(input);
    if (input.type === "resize") {
      this.#size = { columns: input.columns, rows: input.rows };
      this.#view.resize(this.#size);
    }
    return null;
  }

  /** Until it ends; never rejects. */
  async #read(): Promise<void> {
    const { output, ended } = this.#deps.shell;
    const decoder = new TextDecoder();
    let room: number = burst.characters;
    try {
      for await (const bytes of output) {
        const text = decoder.decode(bytes as Uint8Array, { stream: true });
        this.#show(text);
        room -= text.length;
        if (room > 0) continue;
        await sleep(burst.ms);
        room = burst.characters;
      }
      this.#exitCode = await ended;
    } catch (error) {
      this.#show(`\r\n[${describeError(error)}]\r\n`);
    } finally {
      this.#isRunning = false;
    }
  }

  #show(text: string): void {
    const secrets = this.#deps.secrets();
    if (secrets !== this.#secrets) this.#view.setSecrets(secrets);
    this.#secrets = secrets;
    this.#view.write(text);
  }
}
