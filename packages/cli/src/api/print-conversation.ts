import type { ConvokeClient } from "@convoke/client";
import { printJson } from "../print/json.ts";

/** What a command that acted on one conversation prints: its status now. */
export async function printConversation(
  client: ConvokeClient,
  id: string,
  { json }: { readonly json?: true },
): Promise<void> {
  const { execution_status: status = "idle" } = await client.getConversation(id);
  if (json === true) printJson("conversation", { id, execution_status: status });
  else console.log(`${id}  ${status}`);
}
