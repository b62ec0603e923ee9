import type { TerminalSize } from "../../terminal-attachment.ts";
import type { ToolCall } from "../../tool.ts";
import { notices } from "./terminal-notices.ts";
import type { CommandRun } from "./command-run.ts";
import type { LiveView } from "./live-view.ts";
import type { TerminalRecord } from "./terminal-record.ts";
import { terminalSize } from "./terminal-size.ts";
import type { Shell } from "./shell.ts";

/** The parts of a terminal that lending uses. */
export type LoansDeps = {
  readonly view: LiveView;
  readonly record: TerminalRecord;
  /** Settles when no call of the agent is running. */
  readonly untilIdle: () => Promise<void>;
  /** The last started run, until it is concluded. */
  readonly run: () => CommandRun | undefined;
  /** Opens a shell that is ready for a command. */
  readonly openShell: (signal: AbortSignal) => Promise<Shell>;
  /** Lets the person use the shell's prompt. */
  readonly beginTurn: (shell: Shell, onReady: () => void) => void;
  /** Concludes a run that has ended, and reports it to the agent with its next answer. */
  readonly conclude: (run: CommandRun) => Promise<void>;
  readonly notifyAgent: (notice: string) => void;
  readonly resize: (size: TerminalSize) => void;
};

type Loan = { readonly person: object; readonly stop: AbortController; readonly over: Promise<void> };

/** Milliseconds that a shell has to return from a person to the agent. */
const handBackMs = 1_500;
/** Maximum characters typed before the shell is ready to read them. */
const maxTypedAhead = 10_000;

/** Keys that may stop the running program. */
export const interruptKeys: ReadonlySet<string> = new Set(["\u0003", "\u001a", "\u001c"]);

/** Who has control of a terminal: the agent, or one person at a time. */
export class TerminalLoans {
  readonly #deps: LoansDeps;
  #loan: Loan | undefined;
  /** The person who gets control next. */
  #next: { readonly person: object; size: TerminalSize; typed: string } | undefined;
  #typedAhead = "";

  constructor(deps: LoansDeps) {
    this.#deps = deps;
  }

  /** True while a person has control. */
  get isLent(): boolean {
    return this.#loan !== undefined && !this.#loan.stop.signal.aborted;
  }

  /** Gives control to a person until they give it back; a running command of the agent continues. False while another person has it. */
  lend(person: object, size: TerminalSize): boolean {
    if (this.#loan?.stop.signal.aborted === true && this.#next === undefined) {
      this.#next = { person, size, typed: "" };
      return true;
    }
    if (this.#loan !== undefined) return this.#has(person) || this.#next?.person === person;
    const stop = new AbortController();
    const over = this.#serve(stop.signal)
      .catch((error: unknown) => this.#deps.notifyAgent(notices.handBackFailed(String(error))))
      .finally(() => this.#pass());
    this.#loan = { person, stop, over };
    this.#typedAhead = "";
    this.#deps.resize(size);
    this.#deps.view.lend(person);
    return true;
  }

  /** No effect when the person does not have control. */
  giveBack(person: object): void {
    if (this.#next?.person === person) this.#next = undefined;
    if (this.#has(person)) this.#end();
  }

  /** False for a person who does not have control and is not next. */
  type(person: object, text: string): boolean {
    if (this.#next?.person === person) {
      this.#next.typed = (this.#next.typed + text).slice(0, maxTypedAhead);
      return true;
    }
    if (!this.#has(person)) return false;
    const run = this.#deps.run();
    if (run?.takesKeys === true) {
      run.type(text, interrupts(text));
    } else this.#typedAhead = (this.#typedAhead + text).slice(0, maxTypedAhead);
    return true;
  }

  /** False for a person who does not have control and is not next. */
  resize(person: object, size: TerminalSize): boolean {
    if (this.#next?.person === person) {
      this.#next.size = size;
      return true;
    }
    if (!this.#has(person)) return false;
    this.#deps.resize(size);
    return true;
  }

  /** Waits while a person has control; false when the call was cancelled meanwhile. */
  async untilReturned({ signal, onProgress }: Pick<ToolCall, "signal" | "onProgress">): Promise<boolean> {
    while (this.#loan !== undefined && !signal.aborted) {
      onProgress(notices.waitsForPerson);
      await Promise.race([this.#loan.over, aborted(signal)]);
    }
    return this.#loan === undefined;
  }

  /** Takes control from its current holder. */
  async end(): Promise<void> {
    this.#next = undefined;
    const over = this.#loan?.over;
    this.#end();
    await over;
  }

  #pass(): void {
    const next = this.#next;
    this.#loan = undefined;
    this.#next = undefined;
    if (next === undefined) return;
    this.lend(next.person, next.size);
    // A program that the agent started and waits for returns to the agent.
    this.type(next.person, next.typed);
  }

  #has(person: object): boolean {
    return this.#loan?.person === person && !this.#loan.stop.signal.aborted;
  }

  #end(): void {
    if (this.#loan === undefined || this.#loan.stop.signal.aborted) return;
    this.#loan.stop.abort();
    this.#deps.resize(terminalSize);
    this.#deps.view.lend(undefined);
  }

  /** A person's session. Resolves when the agent has control again. */
  async #serve(signal: AbortSignal): Promise<void> {
    const { untilIdle, record, conclude } = this.#deps;
    await Promise.race([untilIdle(), aborted(signal)]);
    while (!signal.aborted) {
      const run = this.#deps.run();
      if (run === undefined) await this.#begin(signal);
      else if (run.result === undefined) await record.untilChanged(signal);
      else await conclude(run);
    }
    await untilIdle();
    const run = this.#deps.run();
    if (run?.isPersons !== true) return;
    if (await run.handBack(handBackMs)) await conclude(run);
    else this.#deps.notifyAgent(notices.personLeft);
  }

  async #begin(signal: AbortSignal): Promise<void> {
    try {
      const shell = await this.#deps.openShell(signal);
      this.#deps.beginTurn(shell, () => {
        const typed = this.#typedAhead;
        this.#typedAhead = "";
        shell.type(typed);
      });
    } catch (error) {
      if (signal.aborted) return;
      this.#deps.view.write(`\r\n[No shell could be started: ${String(error)}]\r\n`);
      await aborted(signal);
    }
  }
}

function interrupts(text: string): boolean {
  return [...interruptKeys].some((key) => text.includes(key));
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
