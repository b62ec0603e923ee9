import type { Agent } from "@convoke/protocol";
import { promptSections } from "./sections.ts";

type PromptAgent = Pick<
  Agent,
  "system_prompt" | "system_prompt_filename" | "security_policy_filename" | "system_prompt_kwargs"
>;

/** Names of reference templates that stand for the built-in text; with the second one the agent plans. */
export const promptNames = { usual: "system_prompt.j2", planning: "system_prompt_planning.j2" } as const;

const builtInPolicy = "security_policy.j2";

/** Values that reference clients send along for texts that ours does not vary; `soul_content` is used, and `plan_structure` while the agent plans. */
const knownValues = [
  "cli_mode",
  "llm_security_analyzer",
  "enable_browser",
  "memory_enabled",
  "model_name",
  "model_family",
  "model_variant",
  "soul_content",
  "plan_structure",
];

/** Why an agent's prompt fields cannot be honoured, by field below `agent`; null when they can. */
export function promptRefusal(
  agent: PromptAgent,
): { readonly field: string; readonly reason: string } | null {
  const { system_prompt_filename: prompt, security_policy_filename: policy } = agent;
  if (prompt !== undefined && prompt !== promptNames.usual && prompt !== promptNames.planning) {
    const reason = `Prompt templates are not read from files: send the text as system_prompt, "${promptNames.usual}", or "${promptNames.planning}" for an agent that plans.`;
    return { field: "system_prompt_filename", reason };
  }
  if (policy !== undefined && policy !== builtInPolicy && policy !== "") {
    const reason = `Policies are not read from files: send "${builtInPolicy}", "" for none, or a system_prompt of your own.`;
    return { field: "security_policy_filename", reason };
  }
  const { soul_content: soul } = agent.system_prompt_kwargs ?? {};
  if (soul === undefined || soul === null || typeof soul === "string") return null;
  return { field: "system_prompt_kwargs.soul_content", reason: "This is a text." };
}

/** Names of values that no prompt of ours has a place for, as the reference's has none. */
export function unusedPromptValues(agent: PromptAgent): string[] {
  return Object.keys(agent.system_prompt_kwargs ?? {}).filter((name) => !knownValues.includes(name));
}

/** The static part of an agent's prompt: its own text, or ours with another identity or without the safety section where it says so. */
export function staticPrompt(agent: PromptAgent): string {
  if (typeof agent.system_prompt === "string") return agent.system_prompt;
  const { soul_content: soul } = agent.system_prompt_kwargs ?? {};
  const isSafe = agent.security_policy_filename !== "";
  return promptSections
    .filter((section) => isSafe || !section.startsWith("<safety>"))
    .map((section) => {
      const isRole = typeof soul === "string" && soul.trim() !== "" && section.startsWith("<role>");
      return isRole ? `<role>\n${soul.trim()}\n</role>` : section;
    })
    .join("\n\n");
}
