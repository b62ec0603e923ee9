import { ConfigError } from "../lib/config-error.ts";
import type { TracingConfig } from "../observability/traces.ts";

/** Who may read the metrics: the local user with a key, everybody, or nobody. */
export type MetricsAccess = "key" | "open" | "off";

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads `CONVOKE_METRICS`: `key` unless given. */
export function readMetricsAccess(environment: Environment): MetricsAccess {
  const given = environment["CONVOKE_METRICS"] || "key";
  if (given === "key" || given === "open" || given === "off") return given;
  throw new ConfigError(`CONVOKE_METRICS must be key, open or off, not "${given}".`);
}

/** Reads OpenTelemetry's own variables; null, which means no tracing at all, unless one of its addresses is set. */
export function readTracing(environment: Environment): TracingConfig | null {
  const general = environment["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const special = environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
  const url = special || (general ? `${general.replace(/\/+$/, "")}/v1/traces` : null);
  if (url === null || environment["OTEL_SDK_DISABLED"] === "true") return null;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new ConfigError(
      `OTEL_EXPORTER_OTLP_${special ? "TRACES_" : ""}ENDPOINT must be an address such as http://127.0.0.1:4318.`,
    );
  }
  return {
    url,
    headers: {
      ...readHeaders(environment["OTEL_EXPORTER_OTLP_HEADERS"]),
      ...readHeaders(environment["OTEL_EXPORTER_OTLP_TRACES_HEADERS"]),
    },
    serviceName: environment["OTEL_SERVICE_NAME"] || "convoke",
    hasContent: environment["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] === "true",
  };
}

/** `name=value,name=value`; values may be percent-encoded. */
function readHeaders(text: string | undefined): Record<string, string> {
  const pairs = (text ?? "").split(",").flatMap((pair): [string, string][] => {
    const at = pair.indexOf("=");
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // It was never encoded.
    return value;
  }
}
