import { ended } from "../lib/ended.ts";
import type { AttemptContext } from "./answer.ts";
import { toModelError, type FailureContext } from "./classify.ts";
import { cutAnswer } from "./failures.ts";
import { refusedHere } from "./refused-here.ts";
import type { ModelClock } from "./clock.ts";
import type { ModelPart, ModelRequest, SpentAttempt } from "./model.ts";

/** Parts of a single attempt: a retry is decided above it. `spent` comes before a failure that cost tokens. */
export type AttemptPart =
  | Exclude<ModelPart, { type: "retry" | "log" }>
  | { readonly type: "spent"; readonly attempt: SpentAttempt };

/** One request to a provider. Yields parts up to `done`; throws whatever went wrong; every await obeys the signal. */
export type Attempt = (request: ModelRequest, context: AttemptContext) => AsyncIterable<AttemptPart>;

export type AttemptDeps = {
  readonly clock: ModelClock;
  /** Longest silence of the provider; null means no limit. */
  readonly idleTimeoutMs: number | null;
  readonly failure: FailureContext;
};

/** Runs one attempt to its last part: never throws, ends with `aborted` as soon as the signal aborts. */
export async function* runAttempt(
  attempt: Attempt,
  request: ModelRequest,
  signal: AbortSignal,
  deps: AttemptDeps,
): AsyncGenerator<AttemptPart> {
  if (signal.aborted || request.leaving?.aborted === true) {
    yield { type: "aborted" };
    return;
  }
  const watch = new SilenceWatch(deps.clock, deps.idleTimeoutMs, signal);
  try {
    for await (const part of attempt(request, watch)) {
      if (signal.aborted) break;
      if (part.type === "done") watch.complete();
      yield part;
      if (part.type === "done" || part.type === "failed") return;
    }
    if (!signal.aborted) throw cutAnswer();
    yield { type: "aborted" };
  } catch (error) {
    if (signal.aborted) yield { type: "aborted" };
    else {
      const refused = refusedHere(error, deps.failure);
      const thrown = watch.isSilent ? silence(deps) : error;
      yield { type: "failed", error: refused ?? toModelError(thrown, deps.failure) };
    }
  } finally {
    watch.close();
  }
}

/** How long a server may keep a finished answer open before we hang up. Waiting a moment keeps the connection usable. */
const endGraceMs = 250;

function silence(deps: AttemptDeps): Error {
  const seconds = Math.round((deps.idleTimeoutMs ?? 0) / 1000);
  return Object.assign(new Error(`nothing came for ${seconds} s`), { name: "TimeoutError" });
}

/** Aborts an attempt when the provider stays silent too long; time spent by the consumer does not count. */
class SilenceWatch implements AttemptContext {
  readonly #watching = new AbortController();
  readonly #cut = new AbortController();
  readonly #clock: ModelClock;
  readonly #outer: AbortSignal;
  #isComplete = false;
  #isSilent = false;
  #waitingSinceMs: number | null = null;

  constructor(clock: ModelClock, limitMs: number | null, outer: AbortSignal) {
    this.#clock = clock;
    this.#outer = outer;
    // One that follows several by itself takes many times as long.
    outer.addEventListener("abort", this.#follow);
    if (limitMs !== null) void this.#watch(limitMs);
  }

  get signal(): AbortSignal {
    return this.#cut.signal;
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  async wait<T>(promise: Promise<T>): Promise<T> {
    this.#waitingSinceMs = this.#clock.nowMs();
    try {
      return await promise;
    } finally {
      this.#waitingSinceMs = null;
    }
  }

  received(): void {
    if (this.#waitingSinceMs !== null) this.#waitingSinceMs = this.#clock.nowMs();
  }

  expectEnd(): void {
    void this.#watch(endGraceMs);
  }

  /** Everything has been read: there is no request any more that would have to be broken off. */
  complete(): void {
    this.#isComplete = true;
  }

  close(): void {
    this.#outer.removeEventListener("abort", this.#follow);
    this.#watching.abort(ended);
    if (!this.#isComplete) this.#cut.abort(ended);
  }

  readonly #follow = (): void => this.#cut.abort(this.#outer.reason);

  async #watch(limitMs: number): Promise<void> {
    try {
      let sleepMs = limitMs;
      while (true) {
        await this.#clock.sleep(sleepMs, this.#watching.signal);
        const nowMs = this.#clock.nowMs();
        // A clock that was set back would lengthen the wait by as much.
        if (this.#waitingSinceMs !== null) this.#waitingSinceMs = Math.min(this.#waitingSinceMs, nowMs);
        const silentMs = this.#waitingSinceMs === null ? 0 : nowMs - this.#waitingSinceMs;
        if (silentMs >= limitMs) {
          this.#isSilent = true;
          this.#cut.abort();
          return;
        }
        sleepMs = limitMs - silentMs;
      }
    } catch {
      // The sleep rejects when the attempt is over, which is how this watch ends.
    }
  }
}
