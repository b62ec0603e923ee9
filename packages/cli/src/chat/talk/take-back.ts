import type { ConvokeClient } from "@convoke/client";
import { findOffBranchRows, type MessageRow, type Row } from "@convoke/client/view";

/** The newest message of the person on the branch that the agent works on; null when none is shown. */
export function lastMessage(rows: readonly Row[]): MessageRow | null {
  const off = findOffBranchRows(rows);
  const found = rows.findLast((row) => row.type === "message" && !row.isTakenBack && !off.has(row.id));
  return found?.type === "message" ? found : null;
}

/** Makes a file what it was when its branch started, or removes it where there was none. */
export async function restoreFile(client: ConvokeClient, id: string, fullPath: string): Promise<void> {
  await client.call("POST /api/conversations/{runtime_conversation_id}/git/restore", {
    params: { runtime_conversation_id: id },
    body: { path: fullPath },
  });
}
