import { maskText, SecretMask } from "../../processes/mask.ts";
import type { ToolSecret } from "../../tool.ts";
import { OutputCleaner } from "./output-cleaner.ts";
import { OutputLog } from "./output-log.ts";
import { OutputPace } from "./output-pace.ts";
import { ProgressFeed } from "./progress-feed.ts";
import type { CommandEnd } from "./shell-messages.ts";
import type { CommandListener, Shell } from "./shell.ts";
import { StartedProcesses } from "./started-processes.ts";
import type { TerminalRecord } from "./terminal-record.ts";

export type CommandRunDeps = {
  readonly shell: Shell;
  readonly mask: SecretMask;
  /** Where complete long outputs are kept. */
  readonly logDirectory: string;
  /** So many characters a command may print in one call; then it is held until the next. */
  readonly maxCharacters: number;
  /** While nobody waits it is not held: what was not read is dropped, and it prints no faster than can be borne. */
  readonly goesOn: boolean;
  /** Takes what the command printed, masked. */
  readonly record: TerminalRecord;
};

/** How a command ended: by itself, or with the shell. */
export type RunResult =
  | { readonly type: "ended"; readonly end: CommandEnd }
  | { readonly type: "died"; readonly exitCode: number; readonly hadBegun: boolean };

export type WaitOptions = {
  /** Gives up after this long without output; undefined: never. */
  readonly quietMs: number | undefined;
  /** Gives up after this long in any case. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
};

/** Why a wait was over: the command has a result; or it goes on, but was quiet, out of time, printed too much, was aborted or never begun. */
export type WaitEnd = "result" | "quiet" | "deadline" | "flood" | "aborted" | "unresponsive";

const reviveMs = 300;
const beginMs = 10_000;
const progressCharacters = 4_000;
/** A live line may be long; only its end matters for progress. */
const progressSource = 20_000;
// Together well below the two seconds that a cancelled tool has (P43), on a machine that is busy with other things too.
const interruptGraceMs = 250;
const terminateGraceMs = 250;
const killGraceMs = 300;

/** One command from its start to its end, over as many calls as that takes. */
export class CommandRun {
  readonly command: string;
  /** What a person does at the prompt, and not a command of the agent. */
  readonly isPersons: boolean;
  readonly #deps: CommandRunDeps;
  readonly #cleaner: OutputCleaner;
  readonly #started: StartedProcesses;
  readonly #pace: OutputPace;
  #log: OutputLog;
  #result: RunResult | undefined;
  #mayNeedWaking = false;
  /** Somebody interrupted it: what it wrote last may be half of something. */
  #isCutOff = false;
  #lastOutputAt = performance.now();
  /** Ends the wait that is going on, if any. */
  #onChange: () => void = () => {};
  #feed: ProgressFeed | undefined;

  constructor(deps: CommandRunDeps, command: string, isPersons = false) {
    this.command = command;
    this.isPersons = isPersons;
    this.#deps = deps;
    this.#started = new StartedProcesses(deps.shell);
    this.#pace = new OutputPace(deps.shell);
    this.#log = this.#newLog();
    this.#cleaner = new OutputCleaner({
      onText: (text) => this.#keep(deps.mask.push(text)),
      onReply: (bytes) => {
        if (this.#result === undefined) deps.shell.type(bytes);
      },
    });
  }

  get result(): RunResult | undefined {
    return this.#result;
  }

  /** The end of what was printed that is in no record yet, masked: an unfinished line, or what the screen shows. */
  async openText(): Promise<string> {
    const { mask } = this.#deps;
    const screen = this.#cleaner.screen;
    if (screen !== undefined) return maskText(await screen.read(), mask.secrets, mask.spared);
    return this.#open();
  }

  start(secrets: readonly ToolSecret[]): void {
    this.#deps.record.began(maskText(this.command, this.#deps.mask.secrets, this.#deps.mask.spared));
    this.#deps.shell.start(this.command, secrets, this.#listener());
  }

  /** True when what is typed comes to the program, or the prompt, that it is meant for. */
  get takesKeys(): boolean {
    return this.#result === undefined && (!this.isPersons || this.#deps.shell.hasBegun);
  }

  /** Lets a person work at the prompt, instead of a command; `onReady` comes when what is typed gets there. */
  lend(onReady: () => void): void {
    this.#deps.record.began(this.command);
    this.#mayNeedWaking = true;
    this.#pace.attend(false);
    this.#deps.shell.lend(this.#listener(onReady));
  }

  /** Ends the time of a person; false where a program of theirs still runs. */
  async handBack(milliseconds: number): Promise<boolean> {
    // Told twice, a shell that is only slow would take the second for the beginning of what comes next.
    const reviveAfterMs = this.#deps.shell.handBack() ? milliseconds / 2 : undefined;
    return this.#endsWithin(milliseconds, reviveAfterMs);
  }

  #listener(onBegin: () => void = () => {}): CommandListener {
    return {
      onBegin: () => {
        this.#lastOutputAt = performance.now();
        onBegin();
      },
      onText: (text) => this.#take(text),
      onEnd: (end) => this.#finish({ type: "ended", end }),
      onDeath: (exitCode) => this.#finish({ type: "died", exitCode, hadBegun: this.#deps.shell.hasBegun }),
    };
  }

  /** Types into the program that runs; `isInterrupt` for keys that may throw the shell back to its prompt. */
  type(bytes: string, isInterrupt: boolean): void {
    if (isInterrupt) this.#cutOff();
    this.#mayNeedWaking ||= isInterrupt;
    this.#deps.shell.type(bytes);
  }

  /** Waits until there is something to tell. Several reasons at once: the first of {@link WaitEnd} counts. */
  async wait(options: WaitOptions): Promise<WaitEnd> {
    const startedAt = performance.now();
    this.#lastOutputAt = startedAt;
    this.#pace.attend(true);
    using feed = new ProgressFeed({ onProgress: options.onProgress, read: () => this.#newest() });
    this.#feed = feed;
    const over = Promise.withResolvers<WaitEnd>();
    let timer: NodeJS.Timeout | undefined;
    let turn: NodeJS.Immediate | undefined;
    const check = (): void => {
      clearTimeout(timer);
      clearImmediate(turn);
      const now = performance.now();
      const end = this.#waitEnd(options, now, startedAt);
      if (end !== undefined) {
        over.resolve(end);
        return;
      }
      if (now - this.#lastOutputAt >= reviveMs) this.#revive();
      const pauseMs = Math.max(1, Math.min(reviveMs, this.#nextMs(options, now, startedAt)));
      // After everything that has arrived is read: to a process that was held up, a command that ended would seem quiet.
      timer = setTimeout(() => (turn = setImmediate(check)), pauseMs);
    };
    this.#onChange = check;
    options.signal.addEventListener("abort", check);
    check();
    try {
      return await over.promise;
    } finally {
      clearTimeout(timer);
      clearImmediate(turn);
      options.signal.removeEventListener("abort", check);
      this.#onChange = () => {};
      this.#feed = undefined;
      if (this.#deps.goesOn) this.#pace.attend(false);
    }
  }

  /** The output since the last time, masked and cut; with a program on the whole screen, what the screen shows now. */
  async takeOutput(): Promise<string> {
    const screen = this.#cleaner.screen;
    this.#cleaner.flush(this.#result !== undefined);
    if (screen !== undefined && this.#result === undefined) {
      const { mask } = this.#deps;
      const shown = await screen.read();
      this.#log.append((this.#log.length > 0 ? "\n" : "") + maskText(shown, mask.secrets, mask.spared));
    }
    if (this.#result !== undefined) {
      const { mask } = this.#deps;
      this.#keep(this.#wasCutOff(this.#result) ? mask.cut() : mask.flush());
    }
    const log = this.#log;
    this.#log = this.#newLog();
    return log.finish();
  }

  /** Drops the output since the last time. */
  async discard(): Promise<void> {
    this.#pace.stop();
    await this.#log.discard();
  }

  /**
   * Stops the whole statement: nothing of it begins any more. Then Ctrl-C, TERM and KILL to all it started, at last the shell
   * itself. Takes about a second at most.
   */
  async abort(): Promise<void> {
    this.#pace.readOn();
    this.#deps.shell.abandonStatement(this.command);
    this.#started.terminateShells();
    this.type("\u0003", true);
    await this.#endsWithin(interruptGraceMs);
    this.#started.terminate();
    await this.#isGoneWithin(terminateGraceMs);
    this.#started.kill();
    if (await this.#endsWithin(killGraceMs)) return;
    this.#deps.shell.kill();
    await this.#endsWithin(killGraceMs);
  }

  /** Kills what the command left running in the background; over when the shell has noticed, so that it tells no later command. */
  async killStarted(): Promise<void> {
    const until = performance.now() + killGraceMs;
    await this.#started.areGone(this.#started.kill(), until);
  }

  /** One interrupt is good for one wake-up: a program that reads the terminal must not be typed at again and again. */
  #revive(): void {
    if (this.#deps.shell.revive(this.#mayNeedWaking)) this.#mayNeedWaking = false;
  }

  /** The echo of the key would part the beginning of a secret, with which the output ends, from this end (P13). */
  #cutOff(): void {
    this.#isCutOff = true;
    const { mask } = this.#deps;
    if (!mask.endsInside(this.#cleaner.live)) return;
    this.#cleaner.flush(false);
    this.#keep(mask.cut());
  }

  #wasCutOff(result: RunResult): boolean {
    return this.#isCutOff || result.type === "died" || result.end.exitCode > 128;
  }

  /** Waits for the end of the statement and of all that it started. */
  async #isGoneWithin(milliseconds: number): Promise<void> {
    const until = performance.now() + milliseconds;
    await this.#endsWithin(milliseconds);
    await this.#started.areGone(this.#started.pids(), until);
  }

  async #endsWithin(milliseconds: number, reviveAfterMs = 150): Promise<boolean> {
    if (this.#result !== undefined) return true;
    const over = Promise.withResolvers<void>();
    const timers = [setTimeout(over.resolve, milliseconds), setTimeout(() => this.#revive(), reviveAfterMs)];
    this.#onChange = () => {
      if (this.#result !== undefined) over.resolve();
    };
    await over.promise;
    for (const timer of timers) clearTimeout(timer);
    this.#onChange = () => {};
    return this.#result !== undefined;
  }

  #waitEnd(options: WaitOptions, now: number, startedAt: number): WaitEnd | undefined {
    if (this.#result !== undefined) return "result";
    if (options.signal.aborted) return "aborted";
    if (this.#pace.isFlooding) return "flood";
    if (now - startedAt >= options.deadlineMs) return "deadline";
    if (!this.#deps.shell.hasBegun) return now - startedAt >= beginMs ? "unresponsive" : undefined;
    if (options.quietMs === undefined) return undefined;
    // A program on the whole screen redraws for ever: its output says nothing about its getting on.
    const quietSince = this.#cleaner.screen === undefined ? this.#lastOutputAt : startedAt;
    return now - quietSince >= options.quietMs ? "quiet" : undefined;
  }

  #nextMs(options: WaitOptions, now: number, startedAt: number): number {
    const quietMs = options.quietMs === undefined ? reviveMs : options.quietMs - (now - this.#lastOutputAt);
    return Math.min(quietMs, options.deadlineMs - (now - startedAt));
  }

  #take(text: string): void {
    this.#lastOutputAt = performance.now();
    this.#cleaner.write(text);
    this.#feed?.touch();
    const isOver = this.#log.length + this.#cleaner.live.length > this.#deps.maxCharacters;
    const pace = this.#pace.take(text.length, isOver);
    if (pace === "rests") this.#log.forget();
    else if (pace === "floods") this.#onChange();
  }

  #keep(text: string): void {
    this.#log.append(text);
    this.#deps.record.append(text);
  }

  #finish(result: RunResult): void {
    this.#result = result;
    this.#pace.attend(true);
    this.#deps.record.ended(result.type === "ended" ? result.end.exitCode : result.exitCode);
    this.#onChange();
  }

  #newLog(): OutputLog {
    return new OutputLog({
      directory: this.#deps.logDirectory,
      onBacklog: (isBehind) => this.#pace.wait(isBehind),
    });
  }

  #newest(): string {
    return (this.#log.newest(progressCharacters) + this.#open()).slice(-progressCharacters);
  }

  /** A mask of its own, never flushed: what may be the beginning of a secret does not show. */
  #open(): string {
    const { mask } = this.#deps;
    return new SecretMask(mask.secrets, mask.spared).push(
      mask.held + this.#cleaner.live.slice(-progressSource),
    );
  }
}
