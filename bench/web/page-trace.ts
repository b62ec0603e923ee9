import type { Browser } from "playwright-core";

/** Processor time of the pages' main threads by kind of work, independent of a busy machine. */
export type PageWork = {
  readonly cpuMs: number;
  readonly longestTaskMs: number;
};

/** Traces all pages of the browser while `work` runs. */
export async function traced<Result>(
  browser: Browser,
  work: () => Promise<Result>,
): Promise<PageWork & { readonly result: Result }> {
  await browser.startTracing(undefined, { categories: ["disabled-by-default-devtools.timeline"] });
  const [outcome] = await Promise.allSettled([work()]);
  const trace = await browser.stopTracing();
  if (outcome.status === "rejected") throw outcome.reason;
  return { ...readTrace(JSON.parse(trace.toString("utf8")) as Trace), result: outcome.value };
}

type TraceEvent = {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Processor time in microseconds; missing for some events. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
};
type Trace = { readonly traceEvents: readonly TraceEvent[] };

export function readTrace({ traceEvents }: Trace): PageWork {
  const mainThreads = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasksMs = traceEvents
    .filter(({ name, pid, tid }) => name === "RunTask" && mainThreads.has(`${pid} ${tid}`))
    .map(({ tdur = 0 }) => tdur / 1_000);
  return {
    cpuMs: tasksMs.reduce((sum, taskMs) => sum + taskMs, 0),
    longestTaskMs: Math.max(0, ...tasksMs),
  };
}
