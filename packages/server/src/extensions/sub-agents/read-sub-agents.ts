import { posix } from "node:path";
import { textOf } from "../../lib/json-object.ts";
import { splitHead, textsOf } from "../skills/parse-skill.ts";
import { ParseTurns } from "../skills/parse-turns.ts";
import { ownCondenser } from "./own-condenser.ts";
import type { SubAgent } from "./sub-agent.ts";
import { findMarkdown, readTextFile, type WorkspaceFiles } from "../skills/workspace-files.ts";

/** Where a project, and a person's home, describe helpers. */
const agentFolders = [".agents/agents", ".openhands/agents"];

const ownKeys = new Set([
  "name",
  "description",
  "model",
  "color",
  "tools",
  "skills",
  "max_iteration_per_run",
  "max_budget_per_run",
  "hooks",
  "profile_store_dir",
  "mcp_config",
  "mcp_servers",
  "permission_mode",
  "condenser",
  "worktree",
]);

/** The helpers that the files of a directory describe; a file that cannot be read is left out. */
export async function readSubAgents(
  files: WorkspaceFiles,
  root: string,
  level: "project" | "user",
): Promise<SubAgent[]> {
  const turns = new ParseTurns();
  const found = await Promise.all(
    agentFolders.map((folder) => readSubAgentFolder(files, posix.join(root, folder), level, turns)),
  );
  return found.flat();
}

/** The helpers of one folder. */
export async function readSubAgentFolder(
  files: WorkspaceFiles,
  folder: string,
  level: "project" | "user",
  turns = new ParseTurns(),
): Promise<SubAgent[]> {
  const paths = await findMarkdown(files, folder);
  const found = await Promise.all(paths.map((path) => readSubAgent(files, path, level, turns)));
  return found.flatMap((agent) => agent ?? []);
}

async function readSubAgent(
  files: WorkspaceFiles,
  path: string,
  level: "project" | "user",
  turns: ParseTurns,
): Promise<SubAgent | null> {
  const file = await readTextFile(files, path);
  if (file === null || file.isCut) return null;
  const split = await splitHead(file.text, turns);
  if (!split.ok) return null;
  const { body } = split;
  const head = plainHead(split.head);
  if (head === null) return null;
  const description = textOf(head["description"]) ?? "";
  const others = Object.entries(head).filter(([key]) => !ownKeys.has(key));
  return {
    name: textOf(head["name"]) ?? posix.basename(path).replace(/\.md$/i, ""),
    description,
    model: textOf(head["model"]) ?? "inherit",
    color: textOf(head["color"]),
    tools: namesOf(head["tools"]),
    skills: [...new Set(namesOf(head["skills"]).map((name) => name.slice(0, longestName)))].slice(
      0,
      maxSkills,
    ),
    system_prompt: body.trim(),
    when_to_use_examples: examplesIn(description),
    permission_mode: textOf(head["permission_mode"]),
    max_iteration_per_run: numberOf(head["max_iteration_per_run"]),
    max_budget_per_run: numberOf(head["max_budget_per_run"]),
    mcp_config: fieldsOf(head["mcp_config"] ?? head["mcp_servers"]),
    hooks: fieldsOf(head["hooks"]),
    condenser: condenserOf(head["condenser"]),
    ...(typeof head["worktree"] === "boolean" ? { worktree: head["worktree"] } : {}),
    metadata: Object.fromEntries(others),
    level,
    source: path,
    is_builtin: false,
  };
}

const maxSkills = 100;
const longestName = 255;

type Fields = Record<string, unknown>;

/** Aliases can make a mapping that holds itself, which nobody who reads it further expects; that is no description. */
function plainHead(head: Readonly<Fields>): Readonly<Fields> | null {
  try {
    return JSON.parse(JSON.stringify(head)) as Fields;
  } catch {
    // It holds itself.
    return null;
  }
}

/** What is there and is no mapping cannot be understood, and is not to be passed over: it becomes one that is refused. */
function fieldsOf(value: unknown): Fields | null {
  if (value === null || value === undefined) return null;
  return typeof value === "object" && !Array.isArray(value) ? (value as Fields) : { value };
}

function condenserOf(value: unknown): Fields | null {
  if (value === "default" || value === "none") return ownCondenser(value);
  return typeof value === "object" ? fieldsOf(value) : fieldsOf(value === undefined ? null : { kind: value });
}

/** What stands between `<example>` and `</example>`; found by hand, because an expression would read the rest for every opening. */
function examplesIn(description: string): string[] {
  const [opening, closing] = ["<example>", "</example>"];
  const examples: string[] = [];
  for (let start = description.indexOf(opening); start !== -1;) {
    const end = description.indexOf(closing, start);
    if (end === -1) break;
    examples.push(description.slice(start + opening.length, end).trim());
    start = description.indexOf(opening, end);
  }
  return examples;
}

function namesOf(value: unknown): string[] {
  return textsOf(typeof value === "string" ? value.split(",") : value);
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
