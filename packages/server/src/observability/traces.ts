import type { Context, Span, Tracer } from "@opentelemetry/api";
import type { SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace";
import type { Logger } from "../lib/logger.ts";
import { attributesAt, attributesOf, spanNameOf } from "./span-attributes.ts";
import type { Begun, Ending, Sink } from "./observer.ts";

/** Where traces go. */
export type TracingConfig = {
  /** Complete address of the collector, e.g. `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  /** For the collector; they may hold a key. */
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** True puts what models are sent into their spans. */
  readonly hasContent: boolean;
};

export type TracesDeps = {
  readonly config: TracingConfig;
  readonly logger: Logger;
  readonly version: string;
  /** In place of one that posts to the collector. */
  readonly exporter?: SpanExporter;
};

/** A collector that does not answer within this time loses what it was sent. */
const exportTimeoutMs = 5_000;

/** Spans of activities, each below the one that it is a part of, for a collector of OpenTelemetry. */
export interface Traces extends Sink, AsyncDisposable {}

/** Loads the libraries; nothing global is touched, and nothing but the collector is contacted. */
export async function openTraces({ config, logger, version, exporter }: TracesDeps): Promise<Traces> {
  const [api, { BatchSpanProcessor, TracerProvider }, { resourceFromAttributes }] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/resources"),
  ]);
  const target = exporter ?? (await openExporter(config));
  const processor: SpanProcessor = new BatchSpanProcessor({
    exporter: withReports(target, logger),
    exportTimeoutMillis: exportTimeoutMs,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": config.serviceName, "service.version": version }),
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer("convoke", version);
  const sink = createSink(api, tracer, config);
  return {
    ...sink,
    [Symbol.asyncDispose]: async () => {
      // A failure to send at the end was logged already.
      await provider.shutdown().catch(() => {});
    },
  };
}

function createSink(api: typeof import("@opentelemetry/api"), tracer: Tracer, config: TracingConfig): Sink {
  const open = new WeakMap<Begun, { readonly span: Span; readonly context: Context }>();
  const kinds = {
    request: api.SpanKind.SERVER,
    run: api.SpanKind.INTERNAL,
    "model call": api.SpanKind.CLIENT,
    tool: api.SpanKind.INTERNAL,
  };
  return {
    began(begun) {
      const { activity, parent } = begun;
      const above = (parent === null ? undefined : open.get(parent)?.context) ?? api.ROOT_CONTEXT;
      const attributes = attributesAt(begun, config.hasContent);
      const span = tracer.startSpan(spanNameOf(activity), { kind: kinds[activity.kind], attributes }, above);
      open.set(begun, { span, context: api.trace.setSpan(above, span) });
    },
    ended(begun: Begun, ending: Ending) {
      const span = open.get(begun)?.span;
      span?.setAttributes(attributesOf(ending));
      if (ending.error !== null) span?.setStatus({ code: api.SpanStatusCode.ERROR, message: ending.error });
      span?.end();
    },
  };
}

async function openExporter({ url, headers }: TracingConfig): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-http");
  return new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis: exportTimeoutMs });
}

/** The exporter itself, except that the first of several failures in a row is logged. */
function withReports(exporter: SpanExporter, logger: Logger): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const { error } = result;
        // The enumeration is in a package that nothing else here needs; 0 is success.
        const code: number = result.code;
        const hasFailed = code !== 0;
        if (hasFailed && !isFailing) {
          logger.warn(
            { error: error?.message ?? "unknown", spans: spans.length },
            "traces could not be sent",
          );
        }
        isFailing = hasFailed;
        done(result);
      });
    },
    forceFlush: async () => await exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}
