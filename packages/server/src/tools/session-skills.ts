import { join } from "node:path";
import {
  createLocalWorkspace,
  type RemoteToolHost,
  type ToolHost,
  type ToolSession,
} from "@convoke/tool-host";
import { KeptSkills, type SkillFiles } from "../extensions/skills/kept-skills.ts";
import { openSkillBook, type SkillPlaces } from "../extensions/skills/open-skill-book.ts";
import { withSkills } from "../extensions/skills/invoke-skill-tool.ts";
import type { Logger } from "../lib/logger.ts";
import type { ConversationConfig } from "../engine/conversation-config.ts";

/** What skills, hooks and the like are read with. */
export type SkillAccess = {
  /** Files of the machine that a tool host runs on; null when it does not show them. */
  readonly filesOf: (toolHost: ToolHost) => SkillFiles | null;
  readonly server: NonNullable<SkillPlaces["server"]>;
};

export type SessionSkillsDeps = {
  readonly conversationId: string;
  readonly config: ConversationConfig;
  readonly toolHost: ToolHost;
  readonly workingDir: string;
  readonly access: SkillAccess | null;
  readonly logger: Logger;
};

/** Reads through the tool host where that is another process, and on this machine for the tool host in this one. */
export function openSkillAccess(config: {
  readonly dataDir: string;
  readonly homeDir?: string | null;
}): SkillAccess {
  const local = { ...createLocalWorkspace({ environment: {} }), keptSkills: new KeptSkills(Date.now) };
  return {
    filesOf: (toolHost) => ("workspace" in toolHost ? (toolHost as RemoteToolHost).workspace : local),
    server: { files: local, home: config.homeDir ?? null, publicFolder: join(config.dataDir, "skills") },
  };
}

/** The session with the skills of its conversation. A skill that cannot be read is logged and left out; it never fails anything. */
export async function withConversationSkills(
  session: ToolSession,
  { conversationId, config, toolHost, workingDir, access, logger }: SessionSkillsDeps,
): Promise<ToolSession> {
  const files = access?.filesOf(toolHost) ?? null;
  const places = {
    workspace: files === null ? null : { files, workingDir },
    server: access?.server ?? null,
  };
  const hasTool = config.knows_newer_kinds === true;
  const { agent, skill_names: names } = config;
  const book = await openSkillBook(agent.agent_context ?? null, places, { hasTool, names: names ?? null });
  for (const problem of book.problems) {
    logger.warn({ conversation: conversationId, ...problem }, "skill left out");
  }
  return withSkills(session, book);
}
