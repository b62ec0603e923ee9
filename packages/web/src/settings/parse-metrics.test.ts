import { expect, test } from "vitest";
import { parseMetrics } from "./parse-metrics.ts";

test("metrics in the words of a person; what is not there is not known, and what is not understood is passed by", () => {
  const text = `# HELP convoke_conversations All of them.
# TYPE convoke_conversations gauge
convoke_conversations{status="running"} 2
convoke_conversations{status="finished"} 40
convoke_open_sockets 3
convoke_event_loop_lag_seconds{quantile="0.5"} 0.001
convoke_event_loop_lag_seconds{quantile="0.99"} 0.012
convoke_journal_append_duration_seconds_sum 0.4
convoke_journal_append_duration_seconds_count 100
convoke_model_call_duration_seconds_count{model="a b"} 7
convoke_model_call_duration_seconds_count{model="c"} 1
not a line
`;
  expect(parseMetrics(text)).toEqual({
    conversations: 42,
    working: 2,
    sockets: 3,
    memoryBytes: null,
    busyMs: 12,
    storeMs: 4,
    modelCalls: 8,
    modelErrors: 0,
  });
  expect(parseMetrics("")).toMatchObject({ conversations: 0, sockets: null, storeMs: null });
});
