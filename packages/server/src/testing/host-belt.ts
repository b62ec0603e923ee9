import type { ToolSession } from "@convoke/tool-host";
import type { ToolBelt } from "../engine/tool-belt.ts";
import { noSkills } from "../extensions/skills/skill-set.ts";
import { Belt } from "../tools/belt.ts";
import { createHostSource } from "../tools/sources/host-source.ts";

/** The tools of a conversation that has those of its workspace alone. */
export function hostBelt(session: ToolSession): ToolBelt {
  return new Belt({ sources: [createHostSource(session)], workspace: session, skills: noSkills });
}
