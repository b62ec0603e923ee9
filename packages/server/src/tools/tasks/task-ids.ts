import { createHash } from "node:crypto";
import { hasTasks, hasWorkflow } from "../../agent/tool-specs.ts";
import type { ConversationRow, Journal } from "../../journal/journal.ts";
import { readConfig } from "../../engine/read-config.ts";
import { taskToolName } from "../../agent/task-tool-name.ts";
import { itemsOfPages } from "../../lib/items-of-pages.ts";

/** The tasks that a conversation has given to sub-agents, and that are still there. */
export async function listTasks(
  journal: Pick<Journal, "search" | "getConversations">,
  row: ConversationRow,
): Promise<string[]> {
  const agent = readConfig(row)?.agent;
  if (agent === undefined || !(hasTasks(agent) || hasWorkflow(agent))) return [];
  const ids = [
    ...(await eachOf(journal, row, "ActionEvent", ({ id, tool_name: tool }) =>
      tool === taskToolName && id !== undefined ? idOfTask(row.id, id) : null,
    )),
    // Tasks of a workflow have ids of their own, which are passed in.
    ...(hasWorkflow(agent)
      ? await eachOf(journal, row, "ConversationStateUpdateEvent", ({ key, value }) =>
          key === "task" ? (value?.task_id ?? null) : null,
        )
      : []),
  ];
  const rows = await journal.getConversations([...new Set(ids)]);
  return rows.flatMap((child) => (child?.parentId === row.id ? [child.id] : []));
}

type Fields = {
  readonly id?: string;
  readonly tool_name?: string;
  readonly key?: string;
  readonly value?: { readonly task_id?: string } | null;
};

async function eachOf(
  journal: Pick<Journal, "search">,
  row: ConversationRow,
  kind: string,
  read: (event: Fields) => string | null,
): Promise<string[]> {
  const query = { kind, order: "TIMESTAMP", limit: 100 } as const;
  const events = itemsOfPages((pageId) => journal.search(row.id, { ...query, pageId }));
  const ids = await Array.fromAsync(events, (json) => read(JSON.parse(json) as Fields));
  return ids.filter((id) => id !== null);
}

/** The same call has the same task, before and after a crash. */
export function idOfTask(parentId: string, actionId: string): string {
  const bytes = createHash("sha256").update(`${parentId} ${actionId}`).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
