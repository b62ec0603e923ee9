import { join } from "node:path";
import { createLocalWorkspace, type RemoteToolHost, type ToolHost } from "@convoke/tool-host";
import { SkillCache, type SkillFiles } from "../extensions/skills/skill-cache.ts";
import { openSkillSet, type SkillPlaces } from "../extensions/skills/open-skill-set.ts";
import type { SkillsFound } from "../extensions/skills/load-skills.ts";
import type { SkillSet } from "../extensions/skills/skill-set.ts";
import type { Logger } from "../lib/logger.ts";
import type { ToolPlace } from "./tool-source.ts";

/** What skills, hooks and the like are read with. */
export type SkillAccess = {
  /** Files of the machine that a tool host runs on; null when it does not show them. */
  readonly filesOf: (toolHost: ToolHost) => SkillFiles | null;
  readonly server: NonNullable<SkillPlaces["server"]>;
  /** The installed skills of a user; absent: nobody installs any. */
  readonly installedOf?: (userId: string) => Promise<SkillsFound>;
};

/** Reads through the tool host where that is another process, and on this machine for the tool host in this one. */
export function openSkillAccess(config: {
  readonly dataDir: string;
  readonly homeDir?: string | null;
}): SkillAccess {
  const local = { ...createLocalWorkspace({ environment: {} }), skillCache: new SkillCache(Date.now) };
  return {
    filesOf: (toolHost) => ("workspace" in toolHost ? (toolHost as RemoteToolHost).workspace : local),
    server: { files: local, home: config.homeDir ?? null, publicFolder: join(config.dataDir, "skills") },
  };
}

/** The skills of a conversation. A skill that cannot be read is logged and left out; it never fails anything. */
export async function openConversationSkills(
  { conversationId, config, ownerId, toolHost, workspaceDir }: ToolPlace,
  access: SkillAccess | null,
  logger: Logger,
): Promise<SkillSet> {
  const files = access?.filesOf(toolHost) ?? null;
  const places = {
    workspace: files === null ? null : { files, workingDir: workspaceDir },
    server: access?.server ?? null,
    ...(access?.installedOf === undefined ? {} : { installed: () => access.installedOf!(ownerId) }),
  };
  const hasTool = config.knows_newer_kinds === true;
  const { agent, skill_names: names } = config;
  const skills = await openSkillSet(agent.agent_context ?? null, places, { hasTool, names: names ?? null });
  for (const problem of skills.problems) {
    logger.warn({ conversation: conversationId, ...problem }, "skill left out");
  }
  return skills;
}
