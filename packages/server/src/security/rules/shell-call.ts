import type { Action } from "@convoke/protocol";

/** The tools whose command a shell reads; a rule for the first stands for all. */
export const shellTool = "terminal";
const shellTools = new Set([shellTool, "terminal_run"]);

/** The text that a call gives to a shell. `isInput`: to whatever program runs there. */
export type ShellCall = { readonly command: string; readonly isInput: boolean };

/** Null for a call of another tool. */
export function shellCallOf(toolName: string, action: Action): ShellCall | null {
  const isTerminal = action.kind === "TerminalAction";
  const isNamed = action.kind === "MCPToolAction" && shellTools.has(toolName);
  if (!isTerminal && !isNamed) return null;
  const values: Readonly<Record<string, unknown>> = isNamed ? (action.data ?? {}) : action;
  const { command, is_input: isInput } = values;
  return { command: typeof command === "string" ? command : "", isInput: isInput === true };
}

export function isRuleForTool(named: string, toolName: string): boolean {
  return named === toolName || (named === shellTool && shellTools.has(toolName));
}

export function isShellTool(name: string): boolean {
  return shellTools.has(name);
}
