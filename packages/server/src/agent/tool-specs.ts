import type { Agent, ClientToolSpec } from "@convoke/protocol";
import { taskToolSet } from "../settings/with-defaults.ts";
import { isLeft, openToolFilter } from "./tool-filter.ts";

export type ToolSpec = { readonly name: string; readonly params: Readonly<Record<string, unknown>> };

/** What an agent may name to have sub-agents; the conversation carries it out, no tool host. */
const taskTools: ReadonlySet<string> = new Set(["task", taskToolSet]);

/**
 * The tools of a tool host that an agent's configuration asks for: its own in their order, filtered, then the built-ins.
 * Duplicates count once. The editor offers pictures only to a model that can see.
 */
export function toolSpecs(agent: Agent, isVisionEnabled = false): ToolSpec[] {
  const kept = ownTools(agent).filter(({ name }) => !taskTools.has(name));
  const builtIn = (agent.include_default_tools ?? ["FinishTool", "ThinkTool"]).map((name) => ({
    name: registryName(name),
    params: {},
  }));
  const byName = new Map<string, ToolSpec>();
  for (const spec of [...kept, ...builtIn]) {
    const params = spec.name === "file_editor" ? { vision: isVisionEnabled, ...spec.params } : spec.params;
    if (!byName.has(spec.name)) byName.set(spec.name, { name: spec.name, params });
  }
  return [...byName.values()];
}

/** What nobody else's tool may be called, whether or not this agent has it. */
const usualNames = ["terminal", "file_editor", "task_tracker", "glob", "grep", "finish", "think"];

/** Tools of the conversation itself, which no tool host knows. */
const ownNames: ReadonlySet<string> = new Set(["invoke_skill"]);

/** What an agent names and does not get, because there is no such tool among the `available` ones. */
export function missingTools(agent: Agent, available: Iterable<string>): string[] {
  const known = new Set([...available, ...ownNames]);
  return toolSpecs(agent).flatMap(({ name }) => (known.has(name) ? [] : [name]));
}

/** Every name that tools of an agent have or may get besides those of its MCP servers. */
export function toolNames(agent: Agent): ReadonlySet<string> {
  return new Set([...toolSpecs(agent).map(({ name }) => name), ...usualNames, ...taskTools, ...ownNames]);
}

/** Whether the agent may give work to sub-agents. */
export function hasTasks(agent: Agent): boolean {
  return ownTools(agent).some(({ name }) => taskTools.has(name));
}

/** The tools of a conversation that its client carries out, filtered like the agent's own. */
export function clientTools({ agent, client_tools: given = [] }: ClientToolsOf): ClientToolSpec[] {
  const filter = openToolFilter(agent);
  return given.filter(({ name }) => isLeft(filter, name));
}

type ClientToolsOf = { readonly agent: Agent; readonly client_tools?: readonly ClientToolSpec[] };

function ownTools(agent: Agent): ToolSpec[] {
  const filter = openToolFilter(agent);
  return (agent.tools ?? [])
    .map((tool) => ({ name: registryName(tool.name), params: tool.params ?? {} }))
    .filter(({ name }) => isLeft(filter, taskTools.has(name) ? "task" : name));
}

/** `TerminalTool` and `terminal` are the same tool. Source: reference, tools 1.2. */
function registryName(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, "$1$3_$2$4")
    .toLowerCase()
    .replace(/_tool$/, "");
}
