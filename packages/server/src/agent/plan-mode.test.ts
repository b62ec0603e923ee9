import type { Agent } from "@convoke/protocol";
import { expect, test } from "vitest";
import { approvalMessage, isPlanning, planNotes, workingAgent } from "./plan-mode.ts";

const planner = (names: readonly string[], model = "openai/gpt-5"): Agent => ({
  kind: "Agent",
  llm: { model },
  tools: names.map((name) => ({ name })),
  system_prompt_filename: "system_prompt_planning.j2",
});

const toolsAfter = (agent: Agent) => workingAgent(agent).tools?.map(({ name }) => name);

test("an agent that named tools for the work has them behind the approval, without the editor of the plan", () => {
  expect(toolsAfter(planner(["GrepTool", "TerminalTool", "PlanningFileEditorTool"]))).toEqual([
    "GrepTool",
    "TerminalTool",
  ]);
  expect(isPlanning(workingAgent(planner([])))).toBe(false);
});

test("one that named what planning needs alone, or nothing, gets the usual tools of its model", () => {
  expect(toolsAfter(planner(["glob", "grep", "planning_file_editor"]))).toEqual([
    "terminal",
    "file_editor",
    "task_tracker",
    "glob",
    "grep",
  ]);
  expect(toolsAfter(planner([], "gemini/gemini-2.5-pro"))).toContain("write_file");
});

test("only an agent in plan mode gets its instructions", () => {
  expect(planNotes({ system_prompt_filename: "system_prompt.j2" })).toEqual([]);
  expect(planNotes(planner([]))).toHaveLength(1);
  expect(approvalMessage("  ")).toBe(approvalMessage(null));
});
