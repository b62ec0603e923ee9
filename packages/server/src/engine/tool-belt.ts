import type { ToolSession } from "@convoke/tool-host";
import type { ExternalAgent } from "../extensions/acp/external-agent.ts";
import type { SkillSet } from "../extensions/skills/skill-set.ts";

/** MCP servers that a model request waits for, until they have answered or failed, up to the deadline. */
export type AwaitedServers = { readonly names: readonly string[]; readonly untilMs: number };

/** The tools of one conversation as the engine uses them, wherever they run. */
export interface ToolBelt extends Required<ToolSession> {
  /** Skills that a message can trigger, and their text for the prompt. */
  readonly skills: SkillSet;
  /** The program that does the turns; null for an agent with a model. */
  readonly agent: ExternalAgent | null;
  /**
   * Resolves when all tools are listed that will be soon; never rejects. Reports servers that take longer than a
   * moment.
   */
  ready(signal: AbortSignal, onAwaited: (servers: AwaitedServers) => void): Promise<void>;
}
