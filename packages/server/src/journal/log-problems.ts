import type { ConversationRow, EventWithMeta } from "./journal.ts";
import { damagedJson } from "./shown-event.ts";
import { isJson } from "../lib/json-object.ts";

/** One sentence for each thing in a row that is not what was written. */
export function rowProblems({ config, snapshot, snapshotSeq, lastSeq }: ConversationRow): string[] {
  const problems: string[] = [];
  if (!isJson(config)) problems.push("its configuration is no JSON.");
  if (snapshot !== null && !isJson(snapshot))
    problems.push("its snapshot is no JSON; nothing is lost, the log is read instead.");
  if (snapshotSeq > lastSeq)
    problems.push(`its log ends with event ${lastSeq}, and it had at least ${snapshotSeq}.`);
  return problems;
}

/** The same for events that follow each other; `idBefore` is the id of the one before them, empty at the beginning. */
export function eventProblems(events: readonly EventWithMeta[], idBefore: string): string[] {
  const problems: string[] = [];
  let before = idBefore;
  for (const { seq, id, json, meta } of events) {
    if (json === damagedJson) problems.push(`event ${seq} is gone or not what was written.`);
    else if (meta === damagedJson)
      problems.push(`what is stored beside event ${seq} is not what was written.`);
    if (id <= before) problems.push(`event ${seq} is out of order.`);
    before = id;
  }
  return problems;
}
