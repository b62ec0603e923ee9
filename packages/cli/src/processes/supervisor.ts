import type { Clock } from "@convoke/server";
/** How a process ended. */
export type Ending = { readonly code: number | null; readonly signal: string | null };

export type SupervisorDeps = {
  readonly count: number;
  readonly start: (number: number) => void;
  /** Asks a process to end in order; its end is reported with {@link Supervisor.ended}. */
  readonly stop: (number: number) => void;
  readonly kill: (number: number) => void;
  /** Calls {@link Supervisor.due} for the process, so much later. */
  readonly wait: (number: number, milliseconds: number) => void;
  readonly clock: Clock;
  /** All serve for the first time. */
  readonly onReady: () => void;
  /** Called once, when no process is left. */
  readonly onEnd: (exitCode: number) => void;
  /** A process ended that nobody had asked to. */
  readonly onDeath: (number: number, ending: Ending, againInMs: number) => void;
};

type Phase = "first" | "others" | "serving" | "stopping";

type Member =
  | { readonly is: "running"; readonly sinceMs: number; readonly failures: number; isReady: boolean }
  | { readonly is: "waiting"; readonly failures: number }
  | { readonly is: "ended" };

const firstPauseMs = 100;
const longestPauseMs = 30_000;
/** One that has served for so long has not failed to start. */
const steadyMs = 60_000;

/**
 * Keeps processes running, by their numbers from 1 on. The first starts alone: what only a first start makes is then there for the others.
 * One that dies while all start ends the start; later it is started again, after longer and longer pauses when that does not help.
 */
export class Supervisor {
  readonly #deps: SupervisorDeps;
  readonly #members = new Map<number, Member>();
  #phase: Phase = "first";
  #exitCode = 0;

  constructor(deps: SupervisorDeps) {
    this.#deps = deps;
  }

  begin(): void {
    this.#start(1, 0);
  }

  /** A process serves. */
  ready(number: number): void {
    const member = this.#members.get(number);
    if (member?.is !== "running") return;
    member.isReady = true;
    if (this.#phase === "first") {
      this.#phase = "others";
      for (let other = 2; other <= this.#deps.count; other += 1) this.#start(other, 0);
    }
    if (this.#phase === "others" && this.#serving.length === this.#deps.count) {
      this.#phase = "serving";
      this.#deps.onReady();
    }
  }

  ended(number: number, ending: Ending): void {
    const member = this.#members.get(number);
    if (member?.is !== "running") return;
    const { code } = ending;
    if (this.#phase === "serving") {
      const isSteady = this.#deps.clock.nowMs() - member.sinceMs >= steadyMs;
      const failures = isSteady ? 0 : member.failures;
      const againInMs = Math.min(longestPauseMs, firstPauseMs * 2 ** failures);
      this.#members.set(number, { is: "waiting", failures: failures + 1 });
      this.#deps.onDeath(number, ending, againInMs);
      this.#deps.wait(number, againInMs);
      return;
    }
    this.#members.set(number, { is: "ended" });
    if (code !== 0 && this.#exitCode === 0) this.#exitCode = code ?? 1;
    // A start that did not succeed has failed, whatever the exit code.
    if (this.#phase !== "stopping") {
      this.#exitCode ||= 1;
      this.#stopAll();
    }
    this.#endIfOver();
  }

  /** The pause before a process is started again is over. */
  due(number: number): void {
    const member = this.#members.get(number);
    if (member?.is === "waiting") this.#start(number, member.failures);
  }

  /** Ends all in order; asked again, at once and with `impatientCode`. */
  stop(impatientCode: number): void {
    if (this.#phase !== "stopping") this.#stopAll();
    else {
      this.#exitCode = impatientCode;
      for (const [number, { is }] of this.#members) if (is === "running") this.#deps.kill(number);
    }
    this.#endIfOver();
  }

  get #serving(): Member[] {
    return [...this.#members.values()].filter((member) => member.is === "running" && member.isReady);
  }

  #start(number: number, failures: number): void {
    this.#members.set(number, { is: "running", sinceMs: this.#deps.clock.nowMs(), failures, isReady: false });
    this.#deps.start(number);
  }

  #stopAll(): void {
    this.#phase = "stopping";
    for (const [number, { is }] of this.#members) {
      if (is === "running") this.#deps.stop(number);
      else this.#members.set(number, { is: "ended" });
    }
  }

  #endIfOver(): void {
    if (this.#phase !== "stopping" || [...this.#members.values()].some(({ is }) => is === "running")) return;
    const isReported = this.#members.size === 0;
    this.#members.clear();
    if (!isReported) this.#deps.onEnd(this.#exitCode);
  }
}
