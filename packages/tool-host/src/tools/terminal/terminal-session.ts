import type { TerminalAction, TerminalObservation } from "@convoke/protocol";
import { maskText, SecretMask } from "../../processes/mask.ts";
import { ToolInputError, type TerminalInfo, type ToolCall, type ToolSecret } from "../../tool.ts";
import { CommandRun, type WaitEnd } from "./command-run.ts";
import type { TerminalSize } from "../../terminal-attachment.ts";
import { isDataLiteral } from "./data-literal.ts";
import { LiveView } from "./live-view.ts";
import { terminalSize } from "./terminal-size.ts";
import { interruptKeys, TerminalLoans } from "./terminal-loan.ts";
import { namedSecrets } from "./named-secrets.ts";
import type { Shell } from "./shell.ts";
import { specialKey } from "./special-keys.ts";
import { findStatements } from "./find-statements.ts";
import { notices, shorten } from "./terminal-notices.ts";
import type { TerminalRecord } from "./terminal-record.ts";
import { toTerminalObservation, type TerminalAnswer } from "./terminal-observation.ts";

export type TerminalSessionDeps = {
  /** Opens a shell in the first working directory; aborting ends one that is being opened. */
  readonly openShell: (signal: AbortSignal) => Promise<Shell>;
  /** True when the conversation had a terminal before this session was opened. */
  readonly wasUsedBefore: boolean;
  /** Absolute path of bash, which is used to split statements in doubt. */
  readonly program: string;
  readonly outputDirectory: string;
  /** Public texts, never masked in an answer. */
  readonly workspaceDir: string;
  readonly quietSeconds: number;
  readonly longestSeconds: number;
  readonly idleTimeoutSeconds: number | null;
  readonly maxCharacters: number;
  /** Commands without a waiting call are not paused. */
  readonly goesOn: boolean;
  readonly record: TerminalRecord;
};

/** Fraction of a sandbox's idle time that one call may wait. */
const idleShare = 0.9;

/** Milliseconds that a call which would be refused waits for the running command to end. */
const lastChanceMs = 60;

/** The Enter key of a keyboard; programs that read single keys distinguish it from a newline. */
const enterKey = "\r";

type Request = {
  readonly command: string;
  readonly isInput: boolean;
  readonly timeoutSeconds: number | null;
};

/** One terminal of one conversation: interprets a call, executes it and words the answer. Calls do not overlap. */
export class TerminalSession implements AsyncDisposable {
  readonly #deps: TerminalSessionDeps;
  readonly #mask: SecretMask;
  readonly #secrets = new Map<string, ToolSecret>();
  readonly #closing = new AbortController();
  /** The output for attached people. */
  readonly view: LiveView;
  /** Who has control. */
  readonly loans: TerminalLoans;
  #calling: Promise<unknown> = Promise.resolve();
  #opening: Promise<Shell> | undefined;
  #shell: Shell | undefined;
  #run: CommandRun | undefined;
  #size: TerminalSize = terminalSize;
  /** True when an answer reported that the shell ended. */
  #isDeathReported = false;
  /** Text at the beginning of the next answer. */
  #pendingPrefix: string;

  constructor(deps: TerminalSessionDeps) {
    this.#deps = deps;
    this.#mask = new SecretMask([], [deps.workspaceDir]);
    this.view = new LiveView([deps.workspaceDir]);
    this.loans = this.#openLoans();
    this.#pendingPrefix = deps.wasUsedBefore ? notices.restarted : "";
  }

  async execute(action: TerminalAction, call: ToolCall): Promise<TerminalObservation> {
    this.#learnSecrets(call.secrets);
    if (!(await this.loans.untilReturned(call))) return this.#word(stoppedAnswer(action.command, ""));
    const answer = this.#answer(action, call);
    this.#calling = answer.catch(() => {});
    return this.#word(await answer);
  }

  #openLoans(): TerminalLoans {
    return new TerminalLoans({
      view: this.view,
      record: this.#deps.record,
      untilIdle: async () => void (await this.#calling),
      run: () => this.#run,
      openShell: (signal) => this.#liveShell(signal),
      beginTurn: (shell, onReady) => {
        this.#run = this.#newRun(shell, notices.personsCommand, true);
        this.#run.lend(onReady);
      },
      conclude: async (run) => {
        const { text, exitCode } = await this.#concluded(run, run.command);
        const shown = text.slice(-1000);
        this.#pendingPrefix += run.isPersons
          ? notices.person(shown)
          : notices.endedMeanwhile(run.command, exitCode ?? -1, shown);
        // The shell may have ended too, which the agent does not know yet.
        this.#isDeathReported = false;
      },
      notifyAgent: (notice) => (this.#pendingPrefix += notice),
      resize: (size) => {
        this.#size = size;
        this.#shell?.resize(size);
        this.view.resize(size);
      },
    });
  }

  #word(answer: TerminalAnswer): TerminalObservation {
    const hide = (text: string): string =>
      maskText(text, [...this.#secrets.values()], [this.#deps.workspaceDir]);
    return toTerminalObservation(answer, this.#deps.outputDirectory, hide);
  }

  /** The running or last command. */
  get info(): Pick<TerminalInfo, "command" | "startedAtMs" | "isRunning" | "exitCode"> {
    const { command, startedAtMs, exitCode } = this.#deps.record;
    const isRunning = this.#run !== undefined && this.#run.result === undefined;
    return { command: command === null ? null : shorten(command), startedAtMs, isRunning, exitCode };
  }

  /** The end of the output that is not in the record yet. */
  async openText(): Promise<string> {
    return (await this.#run?.openText()) ?? "";
  }

  /** Stops the running command and the processes it started; null when nothing runs. */
  async stop(call: ToolCall): Promise<TerminalObservation | null> {
    await this.loans.untilReturned(call);
    const run = this.#run;
    if (run === undefined || run.result !== undefined) return null;
    return this.#word(await this.#abort(run, run.command));
  }

  /** Resolves when no process is left, including those of a shell that is being opened. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.loans.end();
    this.view.end();
    // A shell that could not be opened left nothing, and was reported to its caller.
    await this.#opening?.catch(() => {});
    await this.#endShell();
  }

  async #endShell(): Promise<void> {
    const shell = this.#shell;
    const run = this.#run;
    this.#shell = undefined;
    this.#run = undefined;
    await shell?.[Symbol.asyncDispose]();
    await run?.discard();
  }

  async #answer(action: TerminalAction, call: ToolCall): Promise<TerminalAnswer> {
    const isInput = action.is_input === true;
    if (action.reset === true && isInput) {
      throw new ToolInputError(
        "reset and is_input cannot be combined: a fresh shell has no program to type to.",
      );
    }
    if (!isInput && isDataLiteral(action.command)) return refusal(action.command, notices.dataLiteral);
    const request = { command: action.command.trim(), isInput, timeoutSeconds: action.timeout ?? null };
    if (action.reset !== true) return this.#route(request, action.command, call);
    await this.#endShell();
    this.#pendingPrefix = "";
    if (request.command === "") return { command: "[RESET]", text: notices.reset, exitCode: 0 };
    const answer = await this.#route(request, action.command, call);
    const text = `${notices.reset}\n\n${answer.text}`;
    return { ...answer, command: `[RESET] ${request.command}`, text };
  }

  async #route(request: Request, typed: string, call: ToolCall): Promise<TerminalAnswer> {
    const refused = this.#refuseIdleCap(request);
    if (refused !== undefined) return refused;
    if (this.#run !== undefined) return this.#continue(this.#run, request, typed, call);
    if (request.isInput) return refusal(request.command, notices.nothingToType);
    if (request.command === "") return refusal(request.command, notices.nothingToRead);
    return this.#start(request, call);
  }

  async #start(request: Request, call: ToolCall): Promise<TerminalAnswer> {
    const statements = await findStatements(request.command, this.#deps.program);
    if (statements.length > 1) return refusal(request.command, notices.severalStatements(statements));
    if (call.signal.aborted) return stoppedAnswer(request.command, "");
    return this.#begin(request, call, true);
  }

  /** Runs the command; a shell that ended before accepting the command is replaced once. */
  async #begin(request: Request, call: ToolCall, mayRetry: boolean): Promise<TerminalAnswer> {
    const shell = await this.#liveShell(call.signal).catch((error: unknown) => {
      if (call.signal.aborted) return undefined;
      throw error;
    });
    // Checked last: once the shell has the command, it may start (P43).
    if (shell === undefined || call.signal.aborted) return stoppedAnswer(request.command, "");
    const run = this.#newRun(shell, request.command, false);
    this.#run = run;
    run.start(namedSecrets(request.command, call.secrets));
    const answer = await this.#follow(run, request, call);
    if (run.result?.type === "died" && !run.result.hadBegun && mayRetry) {
      this.#pendingPrefix += notices.diedMeanwhile;
      return this.#begin(request, call, false);
    }
    const prefix = this.#pendingPrefix;
    this.#pendingPrefix = "";
    return { ...answer, prefix: prefix + (answer.prefix ?? "") };
  }

  #newRun(shell: Shell, command: string, isPersons: boolean): CommandRun {
    const { outputDirectory: logDirectory, maxCharacters, goesOn, record } = this.#deps;
    const deps = { shell, mask: this.#mask, logDirectory, maxCharacters, goesOn, record };
    return new CommandRun(isPersons ? { ...deps, goesOn: true } : deps, command, isPersons);
  }

  async #continue(run: CommandRun, request: Request, typed: string, call: ToolCall): Promise<TerminalAnswer> {
    const isNew = !request.isInput && request.command !== "";
    const key = request.isInput ? specialKey(request.command) : undefined;
    if (isNew && run.result === undefined) {
      await run.wait({
        quietMs: undefined,
        deadlineMs: lastChanceMs,
        signal: call.signal,
        onProgress: () => {},
      });
    }
    if (run.result === undefined && call.signal.aborted) return this.#abort(run, request.command);
    if (run.result !== undefined) {
      const ended = await this.#concluded(run, request.command);
      if (isNew) {
        this.#pendingPrefix += notices.endedMeanwhile(
          run.command,
          ended.exitCode ?? -1,
          ended.text.slice(-1000),
        );
        return this.#start(request, call);
      }
      return request.isInput && key === undefined
        ? { ...ended, suffix: (ended.suffix ?? "") + notices.inputNotSent }
        : ended;
    }
    if (isNew) {
      const text = await run.takeOutput();
      const suffix = notices.busy(run.command);
      return {
        command: request.command,
        text,
        exitCode: -1,
        isError: true,
        prefix: notices.previousOutput,
        suffix,
      };
    }
    if (key !== undefined) run.type(key, interruptKeys.has(key));
    else if (request.isInput) run.type(`${typed.replace(/\n$/, "")}${enterKey}`, false);
    const answer = await this.#follow(run, request, call);
    return key === undefined
      ? answer
      : { ...answer, suffix: notices.keySent(request.command) + (answer.suffix ?? "") };
  }

  /** Waits for the command and words its result. */
  async #follow(run: CommandRun, request: Request, call: ToolCall): Promise<TerminalAnswer> {
    const { quietSeconds, longestSeconds } = this.#deps;
    const { timeoutSeconds, command } = request;
    const end = await run.wait({
      quietMs: timeoutSeconds === null ? quietSeconds * 1000 : undefined,
      deadlineMs: (timeoutSeconds ?? longestSeconds) * 1000,
      signal: call.signal,
      onProgress: call.onProgress,
    });
    if (end === "result") return this.#concluded(run, command);
    if (end === "aborted") return this.#abort(run, command);
    if (end === "unresponsive") return this.#replaceShell(run, command);
    const text = await run.takeOutput();
    return { command, text, exitCode: -1, isTimeout: true, suffix: this.#stillRunning(end, timeoutSeconds) };
  }

  #stillRunning(end: WaitEnd, timeoutSeconds: number | null): string {
    if (end === "quiet") return notices.quiet(this.#deps.quietSeconds);
    if (end === "flood") return notices.flood(this.#deps.maxCharacters);
    return timeoutSeconds === null
      ? notices.longest(this.#deps.longestSeconds)
      : notices.deadline(timeoutSeconds);
  }

  /** The answer for a command that has ended, or whose shell has. */
  async #concluded(run: CommandRun, command: string): Promise<TerminalAnswer> {
    const text = await run.takeOutput();
    this.#run = undefined;
    const { result } = run;
    if (result?.type === "ended") return { command, text, exitCode: result.end.exitCode, end: result.end };
    const exitCode = result?.exitCode ?? -1;
    // Background processes of the dead shell continue; they end with the session.
    await this.#shell?.release();
    this.#isDeathReported = true;
    return { command, text: withoutExit(text), exitCode, suffix: notices.died(exitCode) };
  }

  async #abort(run: CommandRun, command: string): Promise<TerminalAnswer> {
    await run.abort();
    const answer = await this.#concluded(run, command);
    await run.killStarted();
    return { ...stoppedAnswer(command, answer.text), suffix: notices.stopped + (answer.suffix ?? "") };
  }

  async #replaceShell(run: CommandRun, command: string): Promise<TerminalAnswer> {
    await this.#endShell();
    await run.discard();
    return { ...refusal(command, notices.unresponsive), exitCode: -1 };
  }

  async #liveShell(signal: AbortSignal): Promise<Shell> {
    if (this.#shell?.isAlive === true) return this.#shell;
    if (this.#shell !== undefined && !this.#isDeathReported) {
      await this.#shell.release();
      this.#pendingPrefix += notices.diedMeanwhile;
    }
    const wanted = AbortSignal.any([signal, this.#closing.signal]);
    wanted.throwIfAborted();
    this.#opening = this.#deps.openShell(wanted);
    try {
      this.#shell = await this.#opening;
      this.#shell.resize(this.#size);
      this.view.clear();
    } finally {
      this.#opening = undefined;
    }
    this.#isDeathReported = false;
    return this.#shell;
  }

  #refuseIdleCap(request: Request): TerminalAnswer | undefined {
    const { idleTimeoutSeconds } = this.#deps;
    if (idleTimeoutSeconds === null || request.isInput || request.command === "") return undefined;
    const cap = idleTimeoutSeconds * idleShare;
    if (request.timeoutSeconds === null || request.timeoutSeconds <= cap) return undefined;
    return refusal(request.command, notices.aboveIdleCap(request.timeoutSeconds, cap));
  }

  /** A program may print a secret long after the call that named it, so none is ever forgotten. */
  #learnSecrets(secrets: readonly ToolSecret[]): void {
    const before = this.#secrets.size;
    for (const secret of secrets) this.#secrets.set(`${secret.name}\0${secret.value}`, secret);
    if (this.#secrets.size > before) {
      this.#mask.setSecrets([...this.#secrets.values()]);
      this.view.setSecrets([...this.#secrets.values()]);
    }
  }
}

function refusal(command: string, text: string): TerminalAnswer {
  return { command, text, exitCode: null, isError: true };
}

function stoppedAnswer(command: string, text: string): TerminalAnswer {
  return { command, text, exitCode: 130, suffix: notices.stopped };
}

/** Without the word that a shell prints when it exits; done by hand, because output may be long and full of blanks. */
function withoutExit(text: string): string {
  const trimmed = text.trimEnd();
  if (trimmed === "exit") return "";
  return trimmed.endsWith("\nexit") ? trimmed.slice(0, -"\nexit".length) : text;
}
