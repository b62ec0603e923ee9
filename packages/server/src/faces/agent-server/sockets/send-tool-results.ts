import type { ClientResult } from "../../../engine/client-calls.ts";
import { atOwner, type AskedOwner } from "./at-owner.ts";

/** Stores results of client tools. */
export async function sendToolResults(asked: AskedOwner, results: readonly ClientResult[]): Promise<void> {
  const here = async (): Promise<true> => {
    await (await asked.directory.open(asked.caller, asked.conversationId)).receive(results);
    return true;
  };
  const wire = results.map(({ call, content, isError }) => ({
    tool_call_id: call,
    content,
    is_error: isError,
  }));
  await atOwner(asked, here, {
    path: "tool_results",
    body: { results: wire },
    read: () => true as const,
    usualCode: "tool_results_refused",
  });
}
