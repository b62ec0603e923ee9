import type { Agent } from "@convoke/protocol";
import { usualToolsFor } from "../settings/usual-tools.ts";
import { promptNames } from "./prompt/prompt-choice.ts";

type AgentTools = NonNullable<Agent["tools"]>;

/** What an agent that plans has beside those of its own tools that only read. */
export const planningTools: readonly string[] = ["glob", "grep", "planning_file_editor"];

/** An agent that plans names the prompt of the wire's planning preset; the contract has no other field for it. */
export function isPlanning(agent: Pick<Agent, "system_prompt_filename">): boolean {
  return agent.system_prompt_filename === promptNames.planning;
}

/** The same agent once its plan is approved. One that named nothing but what planning needs gets the usual tools for the work. */
export function workingAgent(agent: Agent): Agent {
  const isForWork = ({ name }: AgentTools[number]): boolean => !isForPlanning(name);
  const given = agent.tools ?? [];
  const reading = given.filter(({ name }) => isForPlanning(name) && !/planning/iu.test(name));
  const tools = given.some(isForWork)
    ? given.filter((tool) => isForWork(tool) || reading.includes(tool))
    : [...usualToolsFor(agent.llm.model).map((name) => ({ name })), ...reading];
  return { ...agent, system_prompt_filename: promptNames.usual, tools };
}

/** `PlanningFileEditorTool` and `planning_file_editor` are the same tool. */
function isForPlanning(name: string): boolean {
  const plain = (text: string): string => text.replaceAll("_", "").toLowerCase().replace(/tool$/u, "");
  return planningTools.some((one) => plain(one) === plain(name));
}

/** What the system prompt says to an agent that plans; `structure` is the client's word for the parts of a plan. */
export function planNotes(agent: Pick<Agent, "system_prompt_filename" | "system_prompt_kwargs">): string[] {
  if (!isPlanning(agent)) return [];
  const { plan_structure: structure } = agent.system_prompt_kwargs ?? {};
  const parts = typeof structure === "string" && structure.trim() !== "" ? [structure.trim()] : [];
  return [["<plan_mode>", ...planRules, ...parts, "</plan_mode>"].join("\n")];
}

const planRules = [
  "You plan: nothing but the plan can be changed, and no command can be run. Look at whatever the work needs, ask what only the person",
  "can know, and write the plan with planning_file_editor: what is to be reached; what is there, by path; which way you take, and why;",
  "the steps in their order with the files that they touch; how each is checked. It is as long as the work needs, and no longer.",
  "When it is complete, end your turn with a few sentences about it. The person may ask for changes: then change the plan.",
  "This ends when a message says that the plan is approved. From then on you have the tools for the work, and carry the plan out.",
];

/** What the agent is told when its plan is approved, with what the person adds to it. */
export function approvalMessage(words: string | null): string {
  const instruction =
    "The plan is approved. Plan mode has ended: carry the plan out with the tools that you have now.";
  return words === null || words.trim() === "" ? instruction : `${instruction}\n\n${words.trim()}`;
}
