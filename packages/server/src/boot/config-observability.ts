import { ConfigError } from "../lib/config-error.ts";
import type { TracingConfig } from "../observability/traces.ts";
import { read, type Environment } from "./setting.ts";
import { settings } from "./settings.ts";

/** Who may read the metrics: the local user with a key, everybody, or nobody. */
export type MetricsAccess = "key" | "open" | "off";

/** Reads OpenTelemetry's own variables; null, which means no tracing at all, unless one of its addresses is set. */
export function readTracing(environment: Environment): TracingConfig | null {
  const general = read(environment, settings.otel_exporter_otlp_endpoint);
  const special = read(environment, settings.otel_exporter_otlp_traces_endpoint);
  const url = special || (general ? `${general.replace(/\/+$/, "")}/v1/traces` : null);
  if (url === null || read(environment, settings.otel_sdk_disabled)) return null;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new ConfigError(
      `OTEL_EXPORTER_OTLP_${special ? "TRACES_" : ""}ENDPOINT must be an address such as http://127.0.0.1:4318.`,
    );
  }
  return {
    url,
    headers: {
      ...readHeaders(read(environment, settings.otel_exporter_otlp_headers)),
      ...readHeaders(read(environment, settings.otel_exporter_otlp_traces_headers)),
    },
    serviceName: read(environment, settings.otel_service_name),
    hasContent: read(environment, settings.otel_instrumentation_genai_capture_message_content),
  };
}

/** `name=value,name=value`; values may be percent-encoded. */
function readHeaders(text: string | null): Record<string, string> {
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
