import type { Agent } from "@convoke/protocol";

export type ToolSpec = { readonly name: string; readonly params: Readonly<Record<string, unknown>> };

/**
 * The tools that an agent's configuration asks for: its own in their order, filtered, then the built-ins. Duplicates count
 * once. The editor offers pictures only to a model that can see.
 */
export function toolSpecs(agent: Agent, isVisionEnabled = false): ToolSpec[] {
  const filter = agent.filter_tools_regex ? new RegExp(`^(?:${agent.filter_tools_regex})`) : null;
  const own = (agent.tools ?? []).map((tool) => ({
    name: registryName(tool.name),
    params: tool.params ?? {},
  }));
  const kept = own.filter(({ name }) => filter === null || filter.test(name));
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

/** `TerminalTool` and `terminal` are the same tool. Source: reference, tools 1.2. */
function registryName(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/_tool$/, "");
}
