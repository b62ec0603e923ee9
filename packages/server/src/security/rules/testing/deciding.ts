import type { Action, Rule, SecurityRisk } from "@convoke/protocol";
import { decideByRules } from "../decide-by-rules.ts";
import { rulesFrom, type AnyRule } from "../rule.ts";

const places = { workingDir: "/work/shop", home: "/home/ada" };

export function decide(
  rules: readonly AnyRule[],
  action: Action,
  toolName = "terminal",
  risk: SecurityRisk = "LOW",
) {
  return decideByRules(rulesFrom("user", rules), { toolName, action, risk, places }).decision;
}

export const run = (command: string, isInput = false): Action => ({
  kind: "TerminalAction",
  command,
  ...(isInput ? { is_input: true } : {}),
});

export function shell(effect: Rule["effect"], ...command: string[]): Rule {
  return { effect, tool: "terminal", command };
}

export const edit = (path: string): Action => ({ kind: "FileEditorAction", command: "view", path });
