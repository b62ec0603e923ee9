import type { Agent, ClientToolSpec } from "@convoke/protocol";
import { defaultToolNames, toolSetMembers } from "@convoke/tool-host";
import { taskToolSet } from "../settings/with-defaults.ts";
import { isPlanning, planningTools } from "./plan-mode.ts";
import { isLeft, openToolFilter } from "./tool-filter.ts";

export type ToolSpec = {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** What the filter leaves of a tool set, where that is not all of it. */
  readonly members?: readonly string[];
};

/** What an agent may name to have sub-agents; the conversation carries it out, no tool host. */
const taskTools: ReadonlySet<string> = new Set(["task", taskToolSet]);

/** What an agent may name to direct sub-agents by a script. */
export const workflowToolSet = "workflow_tool_set";
const workflowTools: ReadonlySet<string> = new Set(["workflow", workflowToolSet]);

/** The name under which the model calls what an agent names. */
function calledName(name: string): string {
  if (taskTools.has(name)) return "task";
  return workflowTools.has(name) ? "workflow" : name;
}

/**
 * The tools of a tool host that an agent's configuration asks for: its own in their order, filtered, then the built-ins.
 * Duplicates count once.
 */
export function toolSpecs(agent: Agent): ToolSpec[] {
  const tools = ownTools(agent)
    .filter(({ name }) => !taskTools.has(name) && !workflowTools.has(name))
    .map(withoutResponse);
  const planning = isPlanning(agent) ? planningTools.map((name) => ({ name, params: {} })) : [];
  const builtIn = (agent.include_default_tools ?? ["FinishTool", "ThinkTool"]).map((name) => ({
    name: registryName(name),
    params: {},
  }));
  const byName = new Map<string, ToolSpec>();
  for (const spec of [...tools, ...planning, ...builtIn]) {
    if (!byName.has(spec.name)) byName.set(spec.name, spec);
  }
  return [...byName.values()];
}

/** Tools of the conversation itself, which no tool host knows. */
export const oracleToolName = "ask_oracle";
const ownNames: ReadonlySet<string> = new Set(["invoke_skill", oracleToolName]);

/** What an agent names and does not get, because there is no such tool among the `available` ones. */
export function missingTools(agent: Agent, available: Iterable<string>): string[] {
  const known = new Set([...available, ...ownNames]);
  const isThere = (name: string): boolean => known.has(name) || membersOf(name).some((one) => known.has(one));
  return toolSpecs(agent).flatMap(({ name }) => (isThere(name) ? [] : [name]));
}

/** Every name that tools of an agent have or may get besides those of its MCP servers. */
export function toolNames(agent: Agent): ReadonlySet<string> {
  const asked = toolSpecs(agent).map(({ name }) => name);
  return new Set([...asked, ...defaultToolNames, ...taskTools, ...workflowTools, ...ownNames]);
}

/** Whether the agent may give work to sub-agents. */
export function hasTasks(agent: Agent): boolean {
  return ownTools(agent).some(({ name }) => taskTools.has(name));
}

/** Whether it may direct them by a script. */
export function hasWorkflow(agent: Agent): boolean {
  return ownTools(agent).some(({ name }) => workflowTools.has(name));
}

/** Whether the agent may ask a stronger model for advice. */
export function hasOracle(agent: Agent): boolean {
  return ownTools(agent).some(({ name }) => name === oracleToolName);
}

/** Whether its sub-agents work in git worktrees of their own, where their descriptions do not say otherwise. */
export function tasksHaveWorktrees(agent: Agent): boolean {
  return ownTools(agent).some(({ name, params }) => taskTools.has(name) && params["worktrees"] === true);
}

/** The tools of a conversation that its client carries out, filtered like the agent's own. */
export function clientTools({ agent, client_tools: given = [] }: ClientToolsOf): ClientToolSpec[] {
  const filter = openToolFilter(agent);
  return given.filter(({ name }) => isLeft(filter, name));
}

type ClientToolsOf = { readonly agent: Agent; readonly client_tools?: readonly ClientToolSpec[] };

/** What is wanted with its calls is nothing to the tool. */
function withoutResponse(spec: ToolSpec): ToolSpec {
  const { response_schema: _, ...params } = spec.params;
  return { ...spec, params };
}

/** What an agent names, filtered, each under the name that a tool host knows. */
export function ownTools(agent: Pick<Agent, "tools" | "filter_tools_regex">): ToolSpec[] {
  const filter = openToolFilter(agent);
  return (agent.tools ?? [])
    .map((tool): ToolSpec => ({ name: registryName(tool.name), params: tool.params ?? {} }))
    .flatMap((spec): ToolSpec[] => {
      const all = membersOf(spec.name);
      if (all.length === 0) return isLeft(filter, calledName(spec.name)) ? [spec] : [];
      const members = all.filter((name) => isLeft(filter, name));
      if (members.length === 0) return [];
      return [members.length === all.length ? spec : { ...spec, members }];
    });
}

/** The filter is about what the model can call, which a set is not. */
function membersOf(name: string): readonly string[] {
  return toolSetMembers.get(name) ?? [];
}

/** `TerminalTool` and `terminal` are the same tool. */
function registryName(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, "$1$3_$2$4")
    .toLowerCase()
    .replace(/_tool$/, "");
}
