import type { AvailableCommand, SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import { viewOf, type ConvokeClient } from "@convoke/client";
import type { ConversationInfo } from "@convoke/protocol";
import { modeOf, modes } from "./mapping.ts";
import { ownCommands } from "./prompt-content.ts";

/** The one option of a session. */
export const modelOption = "model";
/** Stands for the model of the conversation where no stored profile has it. */
const ownModel = "own:";

export function modesOf(info: ConversationInfo): SessionModeState {
  const { policy, isPlanning } = viewOf(info);
  return { currentModeId: modeOf(policy, isPlanning), availableModes: [...modes] };
}

/** The model of a conversation among the stored profiles. */
export async function configOptionsOf(
  client: ConvokeClient,
  info: ConversationInfo,
): Promise<SessionConfigOption[]> {
  const { profiles = [] } = await client.call("GET /api/profiles");
  const { model = "", base_url: baseUrl = null } = info.agent.llm;
  const current = profiles.find((one) => one.model === model && (one.base_url ?? null) === baseUrl);
  const own = { value: `${ownModel}${model}`, name: model };
  const options = profiles.map(({ name, model: described }) => ({
    value: name,
    name,
    ...(described ? { description: described } : {}),
  }));
  return [
    {
      type: "select",
      id: modelOption,
      name: "Model",
      category: "model",
      currentValue: current?.name ?? own.value,
      options: current === undefined ? [own, ...options] : options,
    },
  ];
}

/** True for the value that stands for the model that the conversation has already. */
export function isOwnModel(value: string, info: ConversationInfo): boolean {
  return value === `${ownModel}${info.agent.llm.model ?? ""}`;
}

/** Own commands, and the skills of the folder that are called by name. */
export async function commandsOf(client: ConvokeClient, cwd: string): Promise<AvailableCommand[]> {
  const body = { project_dir: cwd, load_public: false, load_org: false };
  const { skills } = await client.call("POST /api/skills", { body });
  const own = ownCommands.map(({ name, description, hint }) => ({
    name,
    description,
    ...(hint === null ? {} : { input: { hint } }),
  }));
  const called = skills.flatMap(({ name, triggers = [], content }) =>
    triggers.includes(`/${name}`) && !own.some((command) => command.name === name)
      ? [{ name, description: firstLine(content), input: { hint: "what the skill is to do" } }]
      : [],
  );
  return [...own, ...called];
}

function firstLine(text: string): string {
  const line = text.split("\n").find((one) => one.trim() !== "") ?? "";
  return line.replace(/^#+\s*/u, "").slice(0, 200) || "A skill";
}
