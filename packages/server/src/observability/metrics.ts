import type { MetricObject } from "prom-client";
import { PeerQuestion } from "../cluster/peer-question.ts";
import type { ProcessGroup } from "../cluster/process-group.ts";
import type { Begun, Ending, Sink } from "./observer.ts";
import type { Gauges } from "./gauges.ts";
import { openRegistry, type MetricsRegistry } from "./metrics-registry.ts";

type Note = (registry: MetricsRegistry) => void;

/** The maximum of pending notes until the library is loaded. */
const maxNotes = 1_000;
/** Maximum number of queued requests: in a batch each takes a fraction of the time that it takes alone. */
const gatheredNotes = 100;
/** Loaded so long after the start at the latest, because loading takes longer than a cold start may. */
const loadAfterMs = 5_000;

/**
 * Prometheus metrics of one server, or of all processes behind its port together. The library is loaded after the
 * start; until then notes are queued.
 */
export class Metrics implements Sink, Disposable {
  readonly #gauges: () => Gauges;
  readonly #open: typeof openRegistry;
  readonly #timer: NodeJS.Timeout;
  #waiting: Note[] = [];
  #loading: Promise<MetricsRegistry> | null = null;
  #registry: MetricsRegistry | null = null;

  readonly #others: PeerQuestion<readonly MetricObject[]> | null;

  constructor(gauges: () => Gauges, open: typeof openRegistry = openRegistry, processGroup?: ProcessGroup) {
    this.#gauges = gauges;
    this.#open = open;
    const answer = async (): Promise<readonly MetricObject[]> =>
      await (await this.#current()).prometheus.getMetricsAsJSON();
    this.#others = processGroup === undefined ? null : new PeerQuestion(processGroup, "metrics", answer);
    this.#timer = setTimeout(() => this.#loadBehind(), loadAfterMs).unref();
  }

  ended({ activity }: Begun, ending: Ending, durationMs: number): void {
    this.#note((registry) => registry.ended(activity, ending, durationMs / 1000));
  }

  appended(durationMs: number): void {
    this.#note((registry) => registry.appended(durationMs / 1000));
  }

  /** The text that Prometheus reads, and its type. */
  async read(): Promise<{ readonly text: string; readonly contentType: string }> {
    const { prometheus, join }: MetricsRegistry = await this.#current();
    const { contentType } = prometheus;
    if (this.#others === null) return { text: await prometheus.metrics(), contentType };
    const [own, others] = await Promise.all([prometheus.getMetricsAsJSON(), this.#others.ask()]);
    return { text: await join([own, ...others]), contentType };
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#others?.[Symbol.dispose]();
    this.#registry?.[Symbol.dispose]();
  }

  #note(note: Note): void {
    this.#waiting.push(note);
    if (this.#registry !== null) {
      if (this.#waiting.length >= gatheredNotes) this.#take(this.#registry);
    } else if (this.#waiting.length >= maxNotes) this.#loadBehind();
  }

  #take(registry: MetricsRegistry): void {
    for (const note of this.#waiting) note(registry);
    this.#waiting = [];
  }

  /** With everything that was noted. */
  async #current(): Promise<MetricsRegistry> {
    const registry = await this.#load();
    this.#take(registry);
    return registry;
  }

  /** The library may fail to load, for instance without file handles; the next scrape retries and reports it. */
  #loadBehind(): void {
    this.#load().catch(() => {
      this.#waiting.splice(0, this.#waiting.length - maxNotes);
    });
  }

  async #load(): Promise<MetricsRegistry> {
    this.#loading ??= this.#open(this.#gauges()).then((registry) => {
      this.#take(registry);
      this.#registry = registry;
      return registry;
    });
    try {
      return await this.#loading;
    } catch (error) {
      this.#loading = null;
      throw error;
    }
  }
}
