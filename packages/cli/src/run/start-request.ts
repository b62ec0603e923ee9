import { resolve } from "node:path";
import type { ConfirmationPolicyInput, StartConversationRequest, WhileRunning } from "@convoke/protocol";
import { CommandError, exitCodes } from "../exit-codes.ts";
import { wallRequest, type WallOptions } from "../wall-request.ts";
import type { ChosenModel, ModelOptions } from "./choose-model.ts";
import type { Content } from "./read-task.ts";

/** The flags that say how a new conversation is. */
export type StartOptions = WallOptions &
  ModelOptions & {
    readonly workspace: string;
    readonly confirm: Confirm;
    readonly plan?: true;
    readonly maxIterations?: number;
    readonly whileRunning?: WhileRunning;
  };

export type Confirm = keyof typeof policies;

const policies = {
  never: { kind: "NeverConfirm" },
  risky: { kind: "ConfirmRisky" },
  always: { kind: "AlwaysConfirm" },
} as const satisfies Record<string, ConfirmationPolicyInput>;

export function parseConfirm(text: string): Confirm {
  if (text in policies) return text as Confirm;
  throw new CommandError(`--confirm must be never, risky or always, not "${text}".`, exitCodes.usage);
}

export function toText(text: string): Content[number] {
  return { type: "text", text };
}

/** A new conversation that begins with `content`. */
export function startRequest(
  content: Content,
  options: StartOptions,
  llm: ChosenModel & { readonly stream?: boolean },
): StartConversationRequest {
  return {
    agent: {
      kind: "Agent",
      llm,
      tools: ["terminal", "file_editor", "glob", "grep", "task_tracker"].map((name) => ({ name })),
      // Who begins a run in a folder expects its AGENTS.md to count.
      agent_context: { load_project_skills: true },
      ...(options.plan === true ? { system_prompt_filename: "system_prompt_planning.j2" } : {}),
    },
    workspace: { kind: "LocalWorkspace", working_dir: resolve(options.workspace) },
    confirmation_policy: policies[options.confirm],
    ...(options.confirm === "risky" ? { security_analyzer: { kind: "LLMSecurityAnalyzer" } } : {}),
    ...wallRequest(options),
    ...(options.maxIterations === undefined ? {} : { max_iterations: options.maxIterations }),
    ...(options.whileRunning === undefined ? {} : { while_running: options.whileRunning }),
    initial_message: { role: "user", content, run: true },
  };
}
