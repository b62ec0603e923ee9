import { fieldSeparator, messageEnd, messagePrefix } from "./shell-script.ts";

/** The shell's report at the end of a command. */
export type CommandEnd = {
  readonly exitCode: number;
  /** Process id of the newest background job, -1 without one. */
  readonly backgroundPid: number;
  readonly pythonPath: string;
  readonly workingDir: string;
  /** The shell has a trap for SIGINT: an interrupt does not return it to its prompt. */
  readonly isInterruptTrapped: boolean;
};

export type ShellMessagesDeps = {
  readonly onBegin: () => void;
  /** The exact output of the command. */
  readonly onText: (text: string) => void;
  readonly onEnd: (end: CommandEnd) => void;
};

/** Finds the shell's reports in its terminal output, and passes on only the output between begin and end of a command. */
export class ShellMessages {
  readonly #deps: ShellMessagesDeps;
  #nonce: string | undefined;
  #hasBegun = false;
  #isMuted = false;
  /** Text that may begin a report. */
  #held = "";

  constructor(deps: ShellMessagesDeps) {
    this.#deps = deps;
  }

  /** Identifies the running command; undefined when there is none. */
  get nonce(): string | undefined {
    return this.#nonce;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Expects the reports with this nonce; `hasBegun` when only the end is still to come. */
  expect(nonce: string, hasBegun = false): void {
    this.#nonce = nonce;
    this.#hasBegun = hasBegun;
    this.#isMuted = false;
    this.#held = "";
  }

  /** Drops the output until the end of the command. */
  mute(): void {
    this.drain();
    this.#isMuted = true;
  }

  /** Passes on held text. */
  drain(): void {
    const held = this.#held;
    this.#held = "";
    if (this.#hasBegun) this.#give(held);
  }

  push(chunk: string): void {
    // Between commands only prompts and job notices are printed, which no call waits for.
    if (this.#nonce === undefined) return;
    let text = this.#held + chunk;
    this.#held = "";
    if (!this.#hasBegun) {
      const begin = `${messagePrefix}${this.#nonce};begin${messageEnd}`;
      const at = text.indexOf(begin);
      if (at === -1) {
        this.#held = text.slice(-begin.length);
        return;
      }
      this.#hasBegun = true;
      this.#deps.onBegin();
      text = text.slice(at + begin.length);
    }
    this.#readUntilEnd(text, this.#nonce);
  }

  #readUntilEnd(text: string, nonce: string): void {
    const marker = `${messagePrefix}${nonce};end${fieldSeparator}`;
    const at = text.indexOf(marker);
    const stop = at === -1 ? -1 : text.indexOf(messageEnd, at);
    if (stop === -1) {
      const keepFrom = at === -1 ? partialFrom(text, marker) : at;
      this.#held = text.slice(keepFrom);
      this.#give(text.slice(0, keepFrom));
      return;
    }
    this.#give(text.slice(0, at));
    this.#nonce = undefined;
    this.#hasBegun = false;
    this.#deps.onEnd(parseEnd(text.slice(at + marker.length, stop)));
  }

  #give(text: string): void {
    if (text !== "" && !this.#isMuted) this.#deps.onText(text);
  }
}

/** The start of a suffix of `text` that is a prefix of `marker`; the length of `text` when there is none. */
function partialFrom(text: string, marker: string): number {
  const at = text.lastIndexOf(marker.charAt(0));
  return at !== -1 && marker.startsWith(text.slice(at)) ? at : text.length;
}

function parseEnd(fields: string): CommandEnd {
  const [exitCode = "", backgroundPid = "", pythonPath = "", workingDir = "", traps = ""] =
    fields.split(fieldSeparator);
  return {
    exitCode: toInteger(exitCode),
    backgroundPid: toInteger(backgroundPid),
    pythonPath,
    workingDir,
    isInterruptTrapped: traps !== "",
  };
}

function toInteger(text: string): number {
  return /^-?\d+$/.test(text) ? Number(text) : -1;
}
