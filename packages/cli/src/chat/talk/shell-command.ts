import type { ConvokeClient } from "@convoke/client";
import { printable } from "../../print/printable.ts";
import type { Theme } from "../screen/theme.ts";

/** Longer than the server lets a command run. */
const timeoutMs = 310_000;

/** Runs a command of the person beside the agent, in the folder of the conversation; resolves with what to show of it. */
export async function runShellCommand(
  client: ConvokeClient,
  id: string,
  command: string,
  { paint, signs }: Theme,
): Promise<string[]> {
  const output = await client.call(
    "POST /api/conversations/{runtime_conversation_id}/bash/execute_bash_command",
    {
      params: { runtime_conversation_id: id },
      body: { command },
      timeoutMs,
    },
  );
  const text = printable(`${output.stdout ?? ""}${output.stderr ?? ""}`).trimEnd();
  const exitCode = output.exit_code ?? 0;
  return [
    "",
    `! ${printable(command)}${exitCode === 0 ? "" : paint.red(`  ${signs.failed} exit ${exitCode}`)}`,
    ...(text === "" ? [] : text.split("\n").map((line) => `  ${line}`)),
  ];
}
