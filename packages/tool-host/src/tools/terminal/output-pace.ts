import type { Shell } from "./shell.ts";

/** A command that nobody waits for rests after so many characters. */
const unattendedCharacters = 1_000_000;
const restMs = 250;

/** Holds a shell while its command prints more than can be borne. */
export class OutputPace {
  readonly #shell: Pick<Shell, "pause" | "resume">;
  #isFlooding = false;
  /** While the command is being stopped, everything is read on, so that its end is seen. */
  #readsOn = false;
  #isBehind = false;
  #isAttended = true;
  /** Characters since the last rest of a command that nobody waits for, and the end of its rest. */
  #unattended = 0;
  #rest: NodeJS.Timeout | undefined;

  constructor(shell: Pick<Shell, "pause" | "resume">) {
    this.#shell = shell;
  }

  /** It is held, since it printed more than one call takes. */
  get isFlooding(): boolean {
    return this.#isFlooding;
  }

  /** Whether somebody waits for the command from now on; both begin anew. */
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

  /** It is held while the disk is behind. */
  wait(isBehind: boolean): void {
    this.#isBehind = isBehind;
    this.#apply();
  }

  /** Tells what becomes of a command that has printed so many more characters, where a call may be over its limit with them. */
  take(characters: number, isOverLimit: boolean): "goes on" | "rests" | "floods" {
    if (this.#readsOn) return "goes on";
    if (!this.#isAttended && this.#isTired(characters)) return "rests";
    if (!isOverLimit) return "goes on";
    this.#isFlooding = true;
    this.#apply();
    return "floods";
  }

  /** Ends a rest, whose command is of no interest any more. */
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
