import type { AcpOptions, Message } from "@convoke/protocol";
import { browserToolSetName, chromiumFix, defaultToolNames } from "@convoke/tool-host";
import type { ViewEvent } from "../../agent/history-view.ts";
import { commandOf } from "../../agent/acp-options.ts";
import { isPlanning, planNotes } from "../../agent/plan-mode.ts";
import { missingTools } from "../../agent/tool-specs.ts";
import { staticPrompt } from "../../agent/prompt/prompt-choice.ts";
import { systemPromptEvent } from "../../agent/prompt/system-prompt.ts";
import type { Activation } from "../../extensions/skills/skill-set.ts";
import type { EventBody, EventDraft } from "../../events/event-draft.ts";
import { stateUpdate } from "../../events/state-update.ts";
import { warning } from "../../events/warning.ts";
import type { ConversationConfig } from "../conversation-config.ts";
import type { Tools } from "../ports.ts";
import type { SharedParts } from "../shared-parts.ts";
import type { ToolBelt } from "../tool-belt.ts";

type Prompted = Pick<ToolBelt, "skills" | "tools">;

export type FirstEventsDeps = Pick<SharedParts, "clock" | "configuration"> & {
  readonly tools: Pick<Tools, "workspaceDir">;
};

/** The system prompt, and notices for the client that created the conversation; the model reads only the prompt. */
export function firstEvents(session: Prompted, deps: FirstEventsDeps): EventDraft[] {
  const { config } = deps.configuration;
  // Tools that plan mode withholds are not missing.
  const later = isPlanning(config.agent) ? defaultToolNames : [];
  const missing = missingTools(config.agent, [...session.tools.map(({ name }) => name), ...later]);
  return [
    { body: systemPrompt(session, deps) },
    ...(config.settings_used === undefined ? [] : [stateUpdate("settings_used", config.settings_used)]),
    ...(missing.length === 0 ? [] : [toolsUnavailable(missing)]),
    ...skillsUnavailable(session, config.skill_names ?? []),
    ...(config.warnings ?? []).map(warning),
  ];
}

function toolsUnavailable(tools: readonly string[]): EventDraft {
  const fix = tools.includes(browserToolSetName) ? ` ${chromiumFix}` : "";
  const detail = `This server does not have these tools: ${tools.join(", ")}. The agent works without them.${fix}`;
  return warning({ code: "tools_unavailable", detail, tools });
}

function skillsUnavailable(
  { skills: known }: Pick<ToolBelt, "skills">,
  names: readonly string[],
): EventDraft[] {
  const skills = names.filter((name) => known.find(name) === null);
  if (skills.length === 0) return [];
  const detail = `These skills of the sub-agent are not there: ${skills.join(", ")}. It works without them.`;
  return [warning({ code: "skills_unavailable", detail, skills })];
}

function systemPrompt(session: Prompted, { clock, configuration, tools }: FirstEventsDeps): EventBody {
  const { config, secrets } = configuration;
  if (config.agent.acp !== undefined) return otherPrompt(config.agent.acp);
  return systemPromptEvent({
    tools: session.tools,
    workspaceDir: tools.workspaceDir(config),
    secrets: Object.entries(secrets.sources).map(([name, source]) => ({
      name,
      description: source.description ?? null,
      hosts: source.hosts ?? [],
    })),
    suffix: config.agent.agent_context?.system_message_suffix ?? null,
    replacement: staticPrompt(config.agent),
    notes: [
      ...planNotes(config.agent),
      ...worktreeNotes(config),
      ...session.skills.promptBlocks(config.agent.llm.model ?? ""),
    ],
    now: new Date(clock.nowMs()),
  });
}

/** Another agent has prompts of its own; clients expect an event of this kind. */
function otherPrompt(acp: AcpOptions): EventBody {
  const text = `The agent of this conversation is the program "${commandOf(acp).join(" ")}", which has prompts and tools of its own.`;
  return {
    kind: "SystemPromptEvent",
    source: "agent",
    system_prompt: { type: "text", text, cache_prompt: false },
    tools: [],
  };
}

function worktreeNotes({ worktree }: ConversationConfig): string[] {
  if (worktree === undefined) return [];
  const { branch, base, root, repository } = worktree;
  const words = [
    `This folder is a git worktree of your own: ${root}, on the branch ${branch}, which began at ${base.slice(0, 12)}.`,
    `Others may work in ${repository} at the same time: leave its files and branches alone, and commit to your branch.`,
  ];
  return [`<worktree>\n${words.join("\n")}\n</worktree>`];
}

/** The skills that a message triggers: each once, as long as the model can still read it. */
export async function activateSkills(
  { skills }: Pick<ToolBelt, "skills">,
  readView: () => Promise<readonly ViewEvent[]>,
  message: Message,
): Promise<Activation> {
  if (skills.skills.length === 0) return { names: [], texts: [] };
  const known = (await readView()).flatMap(({ event }) =>
    event.kind === "MessageEvent" ? (event.activated_skills ?? []) : [],
  );
  const text = (message.content ?? []).map((part) => ("text" in part ? part.text : "")).join("\n");
  return skills.activate(text, new Set(known));
}
