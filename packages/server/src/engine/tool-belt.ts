import type { ToolSession } from "@convoke/tool-host";
import type { SkillSet } from "../extensions/skills/skill-set.ts";

/** Servers that a request to the model waits for, until they have answered or failed, and at most until then. */
export type AwaitedServers = { readonly names: readonly string[]; readonly untilMs: number };

/** The tools of one conversation as the engine uses them, wherever each of them is carried out. */
export interface ToolBelt extends Required<ToolSession> {
  /** What a message can bring up, and what the prompt says of it. */
  readonly skills: SkillSet;
  /** Resolves when every tool is there that can be there soon; never rejects. Reports servers that take longer than a moment. */
  ready(signal: AbortSignal, onAwaited: (servers: AwaitedServers) => void): Promise<void>;
}
