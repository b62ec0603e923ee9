import type { SubAgentInfo } from "@convoke/protocol";
import { usualTools } from "../../settings/usual-tools.ts";
import type { WorkspaceFiles } from "../skills/workspace-files.ts";
import { readSubAgents } from "./read-sub-agents.ts";
import { checkSubAgent, type SubAgent } from "./sub-agent.ts";
import { orAfter } from "../../lib/or-after.ts";

/** The sources of sub-agents, beside the built-in ones. */
export type SubAgentPlaces = {
  /** Those that came with a conversation. */
  readonly given?: readonly SubAgent[];
  readonly workspace: { readonly files: WorkspaceFiles; readonly workingDir: string } | null;
  readonly server: { readonly files: WorkspaceFiles; readonly home: string | null } | null;
  /** The tools run on the machine that the person's home is on; so when absent. */
  readonly isHere?: boolean;
};

const projectStarts =
  "A file of a project starts none, because whoever wrote the project would run them on your machine. Put the file into ~/.agents/agents, or give it in agent_definitions.";
const homeStarts =
  "The tools of this conversation run elsewhere, where nothing of your home is started. Give it in agent_definitions.";

/** The timeout for reading sub-agents' files; a slow disk costs a conversation its sub-agents, never its start. */
const timeoutMs = 5_000;

/** The helpers that were given, those of a project, those of the person, then the built-in ones; the first of a name wins. Never rejects. */
export async function findSubAgents({
  given = [],
  workspace,
  server,
  isHere = true,
}: SubAgentPlaces): Promise<SubAgent[]> {
  const home = server?.home ?? null;
  const found = await Promise.all([
    workspace === null
      ? []
      : inTime(readSubAgents(workspace.files, workspace.workingDir, "project"), projectStarts),
    server === null || home === null
      ? []
      : inTime(readSubAgents(server.files, home, "user"), isHere || homeStarts),
  ]);
  const byName = new Map<string, SubAgent>();
  for (const agent of [...given, ...found.flat(), ...builtInSubAgents]) {
    if (!byName.has(agent.name)) byName.set(agent.name, agent);
  }
  return [...byName.values()];
}

/** The helper with a name, or with the older name of a built-in one; null when there is none. */
export function subAgentNamed(agents: readonly SubAgent[], name: string): SubAgent | null {
  const wanted = name.trim();
  const older = olderNames[wanted.toLowerCase()];
  return (
    agents.find((agent) => agent.name === wanted) ?? agents.find((agent) => agent.name === older) ?? null
  );
}

const olderNames: Readonly<Record<string, string>> = {
  default: "general-purpose",
  "default cli mode": "general-purpose",
  explore: "code-explorer",
  bash: "bash-runner",
};

/** Where nobody says otherwise these are there. Names and tools are those of the reference. */
const builtInSubAgents: readonly SubAgentInfo[] = [
  builtIn(
    "general-purpose",
    "Takes over a whole piece of work: reads, changes and tests files like you do.",
    usualTools,
    "You do one piece of work for another agent. Do exactly that piece, check it, and finish with a report: what you did, what you found, and what is left. The other agent sees nothing else of your work.",
  ),
  builtIn(
    "code-explorer",
    "Looks through code and answers a question about it; is told to change nothing.",
    ["terminal"],
    "You answer a question about code for another agent. Only read: change no file and no setting. Finish with the answer, and name the files and lines that show it.",
  ),
  builtIn(
    "bash-runner",
    "Runs commands whose long output would only be in the way, and reports what matters of it.",
    ["terminal"],
    "You run commands for another agent. Run what is asked, no more. Finish with the exit codes and those lines of the output that matter, word for word.",
  ),
];

function builtIn(
  name: string,
  description: string,
  tools: readonly string[],
  systemPrompt: string,
): SubAgentInfo {
  return {
    name,
    description,
    model: "inherit",
    color: null,
    tools: [...tools],
    skills: [],
    system_prompt: systemPrompt,
    when_to_use_examples: [],
    permission_mode: null,
    max_iteration_per_run: null,
    max_budget_per_run: null,
    metadata: {},
    level: "builtin",
    source: null,
    is_builtin: true,
  };
}

async function inTime(reading: Promise<SubAgent[]>, mayStart: true | string): Promise<SubAgent[]> {
  try {
    const found = await orAfter(reading, timeoutMs, []);
    return found.map((agent) => checkSubAgent(agent, mayStart));
  } catch {
    // A workspace that cannot be read has no helpers to offer; its tools say why they do not work.
    return [];
  }
}
