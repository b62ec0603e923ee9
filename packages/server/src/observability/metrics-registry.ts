import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Aggregator, MetricObject, Registry } from "prom-client";
import { createBoundedLabel } from "./bounded-label.ts";
import type { Gauges } from "./gauges.ts";
import type { Activity, Ending } from "./observer.ts";

export interface MetricsRegistry extends Disposable {
  readonly prometheus: Registry;
  /** The text of several processes' metrics as those of one server. */
  readonly join: (all: readonly (readonly MetricObject[])[]) => Promise<string>;
  ended(activity: Activity, ending: Ending, seconds: number): void;
  appended(seconds: number): void;
}

const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];
const workBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const appendBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

/** The sampling interval of the event loop delay; measurements include it. */
const lagResolutionMs = 20;

/** More models or tools than this share one label; users name both. */
const maxNames = 100;

/** Loads the Prometheus library and registers the metrics that the guide lists. */
export async function openRegistry(gauges: Gauges): Promise<MetricsRegistry> {
  const { default: client } = await import("prom-client");
  const registers = [new client.Registry()] as const;
  const counter = (name: string, help: string, labelNames: string[]) =>
    new client.Counter({ name: `convoke_${name}`, help, labelNames, registers: [...registers] });
  const histogram = (name: string, help: string, labelNames: string[], buckets: number[]) =>
    new client.Histogram({ name: `convoke_${name}`, help, labelNames, buckets, registers: [...registers] });
  const modelLabel = createBoundedLabel(maxNames);
  const toolLabel = createBoundedLabel(maxNames);

  const requests = histogram(
    "http_request_duration_seconds",
    "HTTP requests by route template and status.",
    ["method", "route", "status"],
    requestBuckets,
  );
  // Requests that another node has forwarded, which that node counts too.
  const forwarded = histogram(
    "forwarded_request_duration_seconds",
    "HTTP requests that other servers have passed on, by route template and status.",
    ["method", "route", "status"],
    requestBuckets,
  );
  const runs = histogram("run_duration_seconds", "Runs by how they ended.", ["error"], workBuckets);
  const calls = histogram(
    "model_call_duration_seconds",
    "Model calls, waits included.",
    ["model"],
    workBuckets,
  );
  const callErrors = counter("model_call_errors_total", "Model calls without an answer, by code.", [
    "model",
    "code",
  ]);
  const tokens = counter("model_tokens_total", "Tokens; prompt counts cached ones too.", ["model", "type"]);
  const cost = counter("model_cost_dollars_total", "US dollars, where a price is known.", ["model"]);
  const tools = histogram(
    "tool_execution_duration_seconds",
    "Tool executions by result.",
    ["tool", "result"],
    workBuckets,
  );
  const appends = histogram(
    "journal_append_duration_seconds",
    "From an append to its durability.",
    [],
    appendBuckets,
  );
  const lag = registerGauges(client, registers[0], gauges);

  return {
    prometheus: registers[0],
    join: (all) => client.AggregatorRegistry.aggregate([...all]).metrics(),
    appended: (seconds) => appends.observe(seconds),
    ended(activity, { error, status, isForwarded, spent = [] }, seconds) {
      switch (activity.kind) {
        case "request":
          (isForwarded === true ? forwarded : requests).observe(
            { method: activity.method, route: activity.route, status: String(status ?? 0) },
            seconds,
          );
          break;
        case "run":
          runs.observe({ error: error ?? "" }, seconds);
          break;
        case "tool":
          tools.observe({ tool: toolLabel(activity.tool), result: error ?? "ok" }, seconds);
          break;
        case "model call": {
          const model = modelLabel(activity.model);
          calls.observe({ model }, seconds);
          if (error !== null) callErrors.inc({ model, code: error });
          for (const { usage } of spent) {
            tokens.inc({ model, type: "prompt" }, usage.promptTokens);
            tokens.inc({ model, type: "completion" }, usage.completionTokens);
            tokens.inc({ model, type: "cache_read" }, usage.cacheReadTokens);
            tokens.inc({ model, type: "cache_write" }, usage.cacheWriteTokens);
            tokens.inc({ model, type: "reasoning" }, usage.reasoningTokens);
            cost.inc({ model }, usage.cost ?? 0);
          }
        }
      }
    },
    [Symbol.dispose]: () => lag.disable(),
  };
}

/** Registers gauges that are read on each request; returns the event loop monitor, to be disposed. */
function registerGauges(
  client: typeof import("prom-client"),
  registry: Registry,
  gauges: Gauges,
): ReturnType<typeof monitorEventLoopDelay> {
  const gauge = (
    name: string,
    help: string,
    labelNames: string[],
    aggregator: Aggregator,
    read: () => Promise<Iterable<readonly [Record<string, string>, number]>>,
  ): void => {
    void new client.Gauge({
      name: `convoke_${name}`,
      help,
      labelNames,
      aggregator,
      registers: [registry],
      async collect() {
        this.reset();
        for (const [labels, value] of await read()) this.set(labels, value);
      },
    });
  };
  const byStatus = (counts: ReadonlyMap<string, number>) =>
    [...counts].map(([status, count]) => [{ status }, count] as const);
  const lag = monitorEventLoopDelay({ resolution: lagResolutionMs });
  lag.enable();
  // All processes count the same ones.
  gauge("conversations", "Conversations by status.", ["status"], "first", async () =>
    byStatus(await gauges.conversationsByStatus()),
  );
  gauge("sandboxes", "Sandboxes by status.", ["status"], "sum", async () =>
    byStatus(await gauges.sandboxesByStatus()),
  );
  gauge("walls_running", "Walls of conversations whose process runs.", [], "sum", async () => [
    [{}, gauges.wallsRunning()],
  ]);
  gauge("open_sockets", "WebSockets that are open.", [], "sum", async () => [[{}, gauges.openSockets()]]);
  gauge("webhook_lag_events", "Events that a receiver has not taken yet.", ["receiver"], "max", async () =>
    gauges.webhooks().map(({ id, lag_events: count }) => [{ receiver: id }, count]),
  );
  gauge(
    "event_loop_lag_seconds",
    "Delay of the event loop since the last reading.",
    ["quantile"],
    "max",
    async () => {
      const read = (nanoseconds: number): number =>
        Math.max(0, (Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0) - lagResolutionMs / 1000);
      const values = [
        [{ quantile: "0.5" }, read(lag.percentile(50))],
        [{ quantile: "0.99" }, read(lag.percentile(99))],
        [{ quantile: "1" }, read(lag.max)],
      ] as const;
      lag.reset();
      return values;
    },
  );
  gauge(
    "process_resident_memory_bytes",
    "Memory of the server's process, or of all of them.",
    [],
    "sum",
    async () => [[{}, process.memoryUsage.rss()]],
  );
  return lag;
}
