import type { Shell } from "./shell.ts";

/** Number of characters after which a command without a waiting call is paused briefly. */
const unattendedCharacters = 1_000_000;
const restMs = 250;

/** Pauses a shell whose command prints too much. */
export class OutputPace {
  readonly #shell: Pick<Shell, "pause" | "resume">;
  #isFlooding = false;
  /** While the command is being stopped, all output is read, so that its end is seen. */
  #readsOn = false;
  #isBehind = false;
  #isAttended = true;
  /** Characters since the last pause of a command without a waiting call, and the end of that pause. */
  #unattended = 0;
  #rest: NodeJS.Timeout | undefined;

  constructor(shell: Pick<Shell, "pause" | "resume">) {
    this.#shell = shell;
  }

  /** True while it is paused because it printed more than one call may have. */
  get isFlooding(): boolean {
    return this.#isFlooding;
  }

  /** Sets whether a call waits for the command; resets both limits. */
  attend(isAttended: boolean): void {
    this.#isAttended = isAttended;
    this.#unattended = 0;
    this.#isFlooding = false;
    this.stop();
    this.#apply();
  }

  /** From now on everything is read until the end. */
  readOn(): void {
    this.#readsOn = true;
    this.attend(true);
  }

  /** Paused while the disk is behind. */
  wait(isBehind: boolean): void {
    this.#isBehind = isBehind;
    this.#apply();
  }

  /** Counts printed characters and pauses or resumes the command; it may then be over the limit of the call. */
  take(characters: number, isOverLimit: boolean): "goes on" | "rests" | "floods" {
    if (this.#readsOn) return "goes on";
    if (!this.#isAttended && this.#isTired(characters)) return "rests";
    if (!isOverLimit) return "goes on";
    this.#isFlooding = true;
    this.#apply();
    return "floods";
  }

  /** Ends a pause; the command does not matter any more. */
  stop(): void {
    clearTimeout(this.#rest);
    this.#rest = undefined;
  }

  #isTired(characters: number): boolean {
    this.#unattended += characters;
    if (this.#unattended < unattendedCharacters) return false;
    this.#unattended = 0;
    this.#rest = setTimeout(() => {
      this.#rest = undefined;
      this.#apply();
    }, restMs);
    this.#apply();
    return true;
  }

  #apply(): void {
    if (this.#isFlooding || this.#isBehind || this.#rest !== undefined) this.#shell.pause();
    else this.#shell.resume();
  }
}
