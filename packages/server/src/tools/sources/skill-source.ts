import type { Outcome } from "@convoke/tool-host";
import { locationOf, type SkillSet } from "../../extensions/skills/skill-set.ts";
import { statelessSource, type ToolSource } from "../tool-source.ts";
import { listOwnTool } from "../own-tool.ts";

const toolName = "invoke_skill";

/** A tool that loads a skill. That changes nothing and needs nothing of the workspace, so it is answered again after a restart if need be. */
export function createSkillSource(skills: SkillSet): ToolSource {
  const listings = skills.invocable.length === 0 ? [] : [listing];
  return {
    ...statelessSource,
    tools: () => listings,
    owns: (tool) => tool === toolName,
    execute: async ({ action }) => invoke(skills, (action as { name?: string }).name ?? ""),
  };
}

function invoke({ invocable }: SkillSet, name: string): Outcome {
  const skill = invocable.find((item) => item.name === name.trim());
  const names = invocable.map((item) => item.name).join(", ");
  const text =
    skill === undefined
      ? `There is no skill ${JSON.stringify(name)} that can be loaded. Available: ${names}.`
      : skill.content + locationOf(skill);
  const observation = {
    kind: "InvokeSkillObservation",
    content: [{ type: "text", text }],
    is_error: skill === undefined,
    skill_name: skill?.name ?? name,
  };
  return { type: "observation", observation: observation as never };
}

const listing = listOwnTool(
  toolName,
  "InvokeSkill",
  "Load the notes of one of the available skills by its name. Do this before the work that they are about.",
  { isReadOnly: true, isIdempotent: true, isOpen: false },
);
