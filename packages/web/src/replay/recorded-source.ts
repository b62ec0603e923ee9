import type { LogSource } from "../log/open-log.ts";
import { notHere, type RecordedLog } from "./recorded-log.ts";

/** A log source over recorded logs, which never grow. */
export function recordedSource(logs: ReadonlyMap<string, RecordedLog>): LogSource {
  const find = (id: string): RecordedLog => {
    const log = logs.get(id);
    if (log === undefined) throw notHere();
    return log;
  };
  return {
    conversation: async (id) => find(id).info,
    older: async (id, pageId) => find(id).older(pageId),
    newer: async (id, pageId) => find(id).newer(pageId),
    follow: async function* () {},
  };
}
