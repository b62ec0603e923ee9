import { createContext, Script } from "node:vm";

/** A synchronous job exceeded its time limit. */
export class TooSlow extends Error {
  override readonly name = "TooSlow";
}

/** How often a job is restarted that was delayed by the machine. */
const maxAttempts = 10;

/**
 * Runs a synchronous job without side effects under a time limit, which also ends regular expressions; throws {@link
 * TooSlow}. A job that was cut off because the machine was busy is restarted.
 */
export function withinTime<Result>(limitMs: number, job: () => Result): Result {
  return openTimeLimit()(limitMs, job);
}

/** The same for many short jobs one after another: the watch is made once. */
export function openTimeLimit(): <Result>(limitMs: number, job: () => Result) => Result {
  // The job is ours and runs in our own realm; the other one only brings the watch.
  const script = new Script("job()");
  const scope: { job: () => unknown } = { job: () => null };
  const context = createContext(scope);
  return (limitMs, job) => {
    scope.job = job;
    for (let attempt = 1; ; attempt += 1) {
      const before = process.threadCpuUsage();
      try {
        return script.runInContext(context, { timeout: limitMs }) as ReturnType<typeof job>;
      } catch (error) {
        // It may come from the other realm, where an error is none of our class.
        if ((error as { code?: unknown } | null)?.code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
        const { user, system } = process.threadCpuUsage(before);
        const wasHeldUp = (user + system) / 1000 < limitMs / 2;
        if (!wasHeldUp || attempt === maxAttempts)
          throw new TooSlow(`Not done in ${limitMs} ms.`, { cause: error });
      }
    }
  };
}
