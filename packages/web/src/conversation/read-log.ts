import { asRecord, recordAt, textAt } from "@convoke/client/view";
import { escapeJson } from "../log/replay-facts.ts";

/** The events of a conversation as JSON lines that are safe in a script element. */
export type ReadLog = {
  readonly lines: Blob;
  readonly events: number;
  /** Ids of its sub-agents' conversations, in order. */
  readonly taskIds: ReadonlySet<string>;
};

/**
 * Reads the log as a stream into a blob, which the browser may keep on disk; null if it is longer than `maxBytes`.
 */
export async function readLog(log: Response, maxBytes: number): Promise<ReadLog | null> {
  const taskIds = new Set<string>();
  let [events, bytes, rest] = [0, 0, ""];
  const take = (line: string): void => {
    if (line === "") return;
    events += 1;
    const taskId = taskIdIn(line);
    if (taskId !== "") taskIds.add(taskId);
  };
  const parts: Blob[] = [];
  const decoded = (log.body ?? new Response("").body!).pipeThrough(new TextDecoderStream());
  for (const reader = decoded.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    const part = new Blob([escapeJson(value)]);
    bytes += part.size;
    if (bytes > maxBytes) {
      await reader.cancel();
      return null;
    }
    parts.push(part);
    const lines = (rest + value).split("\n");
    rest = lines.pop()!;
    for (const line of lines) take(line);
  }
  take(rest);
  return { lines: new Blob(parts), events, taskIds };
}

/** Empty for events without a task. */
function taskIdIn(line: string): string {
  if (!line.includes('"task_id"')) return "";
  const event = asRecord(JSON.parse(line));
  if (event?.["key"] === "task") return textAt(recordAt(event, "value"), "task_id");
  const observation = recordAt(event, "observation");
  return observation?.["kind"] === "TaskObservation" ? textAt(observation, "task_id") : "";
}
