import { readFileSync } from "node:fs";
import type { CompletionCommand } from "./completion-command.ts";

/** What `write-reference.ts` found of the commands: loading them takes longer than a person waits at a prompt. */
export function readCompletionTable(): CompletionCommand {
  const file = new URL("./completion-table.generated.json", import.meta.url);
  return JSON.parse(readFileSync(file, "utf8")) as CompletionCommand;
}
