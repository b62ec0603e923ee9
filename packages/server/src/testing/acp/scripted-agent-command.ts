import { fileURLToPath } from "node:url";
import type { AgentScript } from "./agent-script.ts";

const main = fileURLToPath(new URL("scripted-agent-main.ts", import.meta.url));

/** The command line of a scripted agent; what it is asked goes to the file, if one is given. */
export function scriptedAgentCommand(script: AgentScript, file?: string): string[] {
  const words = [process.execPath, main, JSON.stringify(script)];
  return file === undefined ? words : [...words, file];
}
