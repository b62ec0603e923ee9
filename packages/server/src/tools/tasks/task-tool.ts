import { taskToolName } from "../../agent/task-tool-name.ts";
import type { SubAgent } from "../../extensions/sub-agents/sub-agent.ts";
import type { TaskAction, TaskObservation } from "@convoke/protocol";
import type { Outcome, ToolListing } from "@convoke/tool-host";
import { listOwnTool } from "../own-tool.ts";

/** `reason` says why a task did not end as it should. */
export type SubTaskEnd = {
  readonly status: "completed" | "error";
  readonly text: string;
  readonly reason: string | null;
  /** What became of the changes in a worktree of its own. */
  readonly work?: string | null;
};

/** Of the conversation of a task. */
export function titleOf({ description, prompt }: TaskAction): string {
  const words = (description ?? "").trim() || prompt.trim().split("\n")[0]!;
  return words.slice(0, 200).toWellFormed() || "Task";
}

/** The answer to an order that was not carried out. */
export function failed(taskId: string, subagent: string, reason: string): Outcome {
  const observation = observe(taskId, subagent, { status: "error", text: "", reason });
  return { type: "observation", observation: observation as never };
}

/** What the model reads of a task: what became of it, why if it failed, then the words of the sub-agent. */
export function observe(
  taskId: string,
  subagent: string,
  { status, text, reason, work = null }: SubTaskEnd,
): TaskObservation {
  const parts = [
    `Task ${taskId}, sub-agent ${subagent}: ${status}.`,
    ...(reason === null ? [] : [reason]),
    ...(text === "" ? (status === "completed" ? ["It ended without a word."] : []) : [text]),
    ...(work === null ? [] : [work]),
  ];
  return {
    kind: "TaskObservation",
    content: parts.map((part) => ({ type: "text", text: part, cache_prompt: false })),
    is_error: status === "error",
    task_id: taskId,
    subagent,
    status,
  };
}

/** The tool as the model is offered it, with the sub-agents that there are. */
export function listTaskTool(agents: readonly SubAgent[]): ToolListing {
  const kinds = agents.map(
    ({ name, description, worktree }) =>
      `- ${name}: ${firstLine(description ?? "")}${worktree === true ? " Has a worktree." : ""}`,
  );
  const isApart = agents.some(({ worktree }) => worktree === true);
  const description = [
    "Give a piece of work to a sub-agent and wait for its report. It works in the same directory, starts without anything of this conversation, and only its last message comes back. Say in prompt everything that it must know: the aim, the places, what counts as done, and what the report must contain. Use it for work whose details would only fill this conversation; do small things yourself. Several tasks in one answer are worked on at the same time, so give two of them never the same files to change.",
    ...(isApart ? [apart] : []),
    "With resume and the id of an earlier task its sub-agent goes on, with all that it knows.",
    `Kinds for subagent_type:\n${kinds.join("\n")}`,
  ].join("\n\n");
  return listOwnTool(taskToolName, "Task", description, {
    isReadOnly: false,
    isIdempotent: false,
    isOpen: true,
  });
}

const apart =
  "A sub-agent that has a worktree works on a copy of what is committed in the repository, on a branch of its own: commit first what it must see. When it has completed its task its changes are merged into your workspace. Where that cannot be, the result names the files, and the branch that has its work.";

function firstLine(text: string): string {
  return text
    .slice(0, 10_000)
    .replaceAll(/<example>[\s\S]*?<\/example>/g, "")
    .trim()
    .split("\n")[0]!
    .slice(0, 300);
}
