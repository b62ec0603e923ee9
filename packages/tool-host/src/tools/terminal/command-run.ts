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
  /** Directory for complete copies of long outputs. */
  readonly logDirectory: string;
  /** Maximum characters that a command may print during one call; then it is paused until the next call. */
  readonly maxCharacters: number;
  /** While no call waits the command is not paused: unread output is dropped, and its rate is limited. */
  readonly goesOn: boolean;
  /** Receives the masked output of the command. */
  readonly record: TerminalRecord;
};

/** How a command ended: by itself, or with the shell. */
export type RunResult =
  | { readonly type: "ended"; readonly end: CommandEnd }
  | { readonly type: "died"; readonly exitCode: number; readonly hadBegun: boolean };

export type WaitOptions = {
  /** Timeout without output; undefined for none. */
  readonly quietMs: number | undefined;
  /** Timeout in any case. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
};

/** Why a wait ended: the command has a result; or it continues, but was quiet, timed out, printed too much, was aborted or never started. */
export type WaitEnd = "result" | "quiet" | "deadline" | "flood" | "aborted" | "unresponsive";

const reviveMs = 300;
const beginMs = 10_000;
const progressCharacters = 4_000;
/** A live line may be long; only its end matters for progress. */
const progressSource = 20_000;
// Together well below the two seconds that a cancelled tool has (P43), also on a busy machine.
const interruptGraceMs = 250;
const terminateGraceMs = 250;
const killGraceMs = 300;

/** One command from start to end, across all calls that it takes. */
export class CommandRun {
  readonly command: string;
  /** True for a person's session at the prompt, false for a command of the agent. */
  readonly isPersons: boolean;
  readonly #deps: CommandRunDeps;
  readonly #cleaner: OutputCleaner;
  readonly #started: StartedProcesses;
  readonly #pace: OutputPace;
  #log: OutputLog;
  #result: RunResult | undefined;
  #mayNeedWaking = false;
  /** The command was interrupted: its last output may be incomplete. */
  #isCutOff = false;
  #lastOutputAt = performance.now();
  /** Ends the current wait, if any. */
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

  /** The end of the output that is in no record yet, masked: an unfinished line, or the current screen. */
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

  /** True when typed input reaches the intended program or prompt. */
  get takesKeys(): boolean {
    return this.#result === undefined && (!this.isPersons || this.#deps.shell.hasBegun);
  }

  /** Gives a person the prompt, instead of running a command; `onReady` is called when typed input reaches it. */
  lend(onReady: () => void): void {
    this.#deps.record.began(this.command);
    this.#mayNeedWaking = true;
    this.#pace.attend(false);
    this.#deps.shell.lend(this.#listener(onReady));
  }

  /** Ends a person's session; false when a program of theirs still runs. */
  async handBack(milliseconds: number): Promise<boolean> {
    // Sent only once, because a slow shell would take a second request for the beginning of the next command.
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

  /** Types into the running program; `isInterrupt` for keys that may return the shell to its prompt. */
  type(bytes: string, isInterrupt: boolean): void {
    if (isInterrupt) this.#cutOff();
    this.#mayNeedWaking ||= isInterrupt;
    this.#deps.shell.type(bytes);
  }

  /** Waits until there is something to report. If several reasons apply, the first of {@link WaitEnd} counts. */
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
      // Checked after all arrived output is read: to a stalled process, a command that ended would seem quiet.
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

  /** New output since the last call, masked and cut; for a full-screen program the current screen. */
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

  /** Drops new output. */
  async discard(): Promise<void> {
    this.#pace.stop();
    await this.#log.discard();
  }

  /**
   * Stops the whole statement; no further part of it starts. Then sends Ctrl-C, TERM and KILL to all processes that it started, and
   * finally to the shell itself. Takes about a second at most.
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

  /** Kills the command's background processes. Resolves when the shell has noticed, so that it does not report them to a later command. */
  async killStarted(): Promise<void> {
    const until = performance.now() + killGraceMs;
    await this.#started.areGone(this.#started.kill(), until);
  }

  /** At most one wake-up per interrupt: a program that reads the terminal must not receive repeated input. */
  #revive(): void {
    if (this.#deps.shell.revive(this.#mayNeedWaking)) this.#mayNeedWaking = false;
  }

  /** The echo of the key would separate the beginning of a secret, at the end of the output, from this end (P13). */
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

  /** Waits for the end of the statement and of all processes that it started. */
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
    // A full-screen program redraws for ever: its output is no sign of progress.
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

  /** A separate mask that is never flushed: text that may begin a secret is not shown. */
  #open(): string {
    const { mask } = this.#deps;
    return new SecretMask(mask.secrets, mask.spared).push(
      mask.held + this.#cleaner.live.slice(-progressSource),
    );
  }
}
