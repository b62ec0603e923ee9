/** The health of a server from its metrics; null for metrics that are missing. */
export type ServerHealth = {
  readonly conversations: number;
  readonly working: number;
  readonly sockets: number | null;
  readonly memoryBytes: number | null;
  /** 99th percentile of the event loop delay, in milliseconds. */
  readonly busyMs: number | null;
  /** Mean append latency, in milliseconds. */
  readonly storeMs: number | null;
  readonly modelCalls: number;
  readonly modelErrors: number;
};

type Sample = { readonly name: string; readonly labels: string; readonly value: number };

/** Parses the Prometheus text format, only the metrics used here. */
export function parseMetrics(text: string): ServerHealth {
  const samples = text.split("\n").flatMap(readLine);
  const named = (name: string, label = ""): readonly number[] =>
    samples.filter((one) => one.name === name && one.labels.includes(label)).map(({ value }) => value);
  const sum = (name: string, label?: string): number =>
    named(name, label).reduce((total, value) => total + value, 0);
  const first = (name: string, label?: string): number | null => named(name, label)[0] ?? null;
  const appends = sum("convoke_journal_append_duration_seconds_count");
  const lag = first("convoke_event_loop_lag_seconds", 'quantile="0.99"');
  return {
    conversations: sum("convoke_conversations"),
    working: sum("convoke_conversations", 'status="running"'),
    sockets: first("convoke_open_sockets"),
    memoryBytes: first("convoke_process_resident_memory_bytes"),
    busyMs: lag === null ? null : lag * 1_000,
    storeMs: appends === 0 ? null : (sum("convoke_journal_append_duration_seconds_sum") / appends) * 1_000,
    modelCalls: sum("convoke_model_call_duration_seconds_count"),
    modelErrors: sum("convoke_model_call_errors_total"),
  };
}

function readLine(line: string): Sample[] {
  const [, name, labels = "", value] = /^([A-Za-z_:][\w:]*)(\{.*\})? (\S+)/u.exec(line) ?? [];
  const number = Number(value);
  return name === undefined || Number.isNaN(number) ? [] : [{ name, labels, value: number }];
}
