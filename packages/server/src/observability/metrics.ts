import type { Registry } from "prom-client";
import type { Begun, Ending, Sink } from "./observer.ts";
import type { Gauges } from "./gauges.ts";
import { openRegistry, type MetricsRegistry } from "./metrics-registry.ts";

type Note = (registry: MetricsRegistry) => void;

/** So many notes wait at most until the library is there. */
const mostNotes = 1_000;
/** Loaded so long after the start at the latest, because loading takes longer than a cold start may. */
const loadAfterMs = 5_000;

/** Prometheus metrics of one server. The library is loaded behind the start; until then notes wait. */
export class Metrics implements Sink, Disposable {
  readonly #gauges: () => Gauges;
  readonly #open: typeof openRegistry;
  readonly #timer: NodeJS.Timeout;
  #waiting: Note[] = [];
  #loading: Promise<MetricsRegistry> | null = null;
  #registry: MetricsRegistry | null = null;

  constructor(gauges: () => Gauges, open: typeof openRegistry = openRegistry) {
    this.#gauges = gauges;
    this.#open = open;
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
    const { prometheus }: { prometheus: Registry } = await this.#load();
    return { text: await prometheus.metrics(), contentType: prometheus.contentType };
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#registry?.[Symbol.dispose]();
  }

  #note(note: Note): void {
    if (this.#registry !== null) note(this.#registry);
    else {
      this.#waiting.push(note);
      if (this.#waiting.length >= mostNotes) this.#loadBehind();
    }
  }

  /** Without file handles, for instance, the library cannot be loaded; the next scrape tries again and tells. */
  #loadBehind(): void {
    this.#load().catch(() => {
      this.#waiting.splice(0, this.#waiting.length - mostNotes);
    });
  }

  async #load(): Promise<MetricsRegistry> {
    this.#loading ??= this.#open(this.#gauges()).then((registry) => {
      for (const note of this.#waiting) note(registry);
      this.#waiting = [];
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
