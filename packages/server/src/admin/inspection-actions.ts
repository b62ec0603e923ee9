import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readExecutions, type RecordedExecution } from "@convoke/tool-host";
import type { ConversationState } from "../engine/state/conversation-state.ts";
import type { ConversationRow } from "../journal/journal.ts";
import type { StoreFacts } from "../journal/store-inspector.ts";
import { formatInstant } from "../lib/instant.ts";
import { readIfThere } from "../lib/read-if-there.ts";
import { describeStorageFault, inFile } from "../lib/storage-fault.ts";

type RecordPlace = "here" | "sandbox" | "elsewhere";

/**
 * Where the record of executions is. That of a sandbox is not read, because programs there can write to it; that of
 * another machine cannot be read.
 */
export async function findRecordPlace(
  { sandboxId, host }: ConversationRow,
  { machine }: StoreFacts,
  dataDir: string,
): Promise<RecordPlace> {
  if (sandboxId !== null || host !== null) return "sandbox";
  if (machine === null) return "here";
  return (await readIfThere(join(dataDir, "machine")))?.trim() === machine ? "here" : "elsewhere";
}

export type InspectedAction = Awaited<ReturnType<typeof readOpenActions>>[number];

export async function readOpenActions(
  state: ConversationState,
  row: ConversationRow,
  { dataDir, place, damages }: RecordSources,
) {
  const ids = state.openActions.map(({ id }) => id);
  const recorded = new Map<string, RecordedExecution>();
  let isRead = place === "here";
  for (const file of isRead && ids.length > 0
    ? await executionRecords(join(dataDir, "conversations", row.id))
    : []) {
    try {
      for (const execution of readExecutions(file, ids)) recorded.set(execution.actionId, execution);
    } catch (error) {
      const problem = describeStorageFault(inFile(error, file));
      if (problem === null) throw error;
      damages.push(`a record of executions cannot be read. ${problem}`);
      isRead = false;
    }
  }
  return state.openActions.map(({ id, seq, toolName, toolCallId, gate }) => {
    const found = recorded.get(id);
    const execution: RecordedExecution["state"] | "none" | "unknown" =
      found?.state ?? (isRead ? "none" : "unknown");
    return {
      action_id: id,
      seq,
      tool_call_id: toolCallId,
      tool_name: toolName,
      /** Only a person may let it start. */
      is_waiting: gate === "awaiting",
      /** By the record of executions. `announced` did not begin, `started` began or may have; `unknown`: the record is not here, or damaged. */
      execution,
      started_at: toInstant(found?.startedAtMs ?? null),
      ended_at: toInstant(found?.endedAtMs ?? null),
    };
  });
}

type RecordSources = {
  readonly dataDir: string;
  readonly place: RecordPlace;
  /** Damages found while reading. */
  readonly damages: string[];
};

/** Its own tools have one, and those of MCP servers theirs. */
async function executionRecords(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder, { recursive: true });
    return names
      .filter((name) => name === "executions.sqlite" || name.endsWith("/executions.sqlite"))
      .map((name) => join(folder, name));
  } catch (error) {
    // Nothing was carried out yet.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

export function toInstant(ms: number | null): string | null {
  return ms === null ? null : formatInstant(Math.round(ms * 1000));
}
