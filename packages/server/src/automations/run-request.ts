import type { UnattendedApprovals } from "@convoke/protocol";
import type { Automation, AutomationRun } from "./automation.ts";
import { fillPrompt } from "./prompt-variables.ts";
import type { RunRequest } from "./run-conversations.ts";

/** The tag of a conversation that names the automation which started it. */
export const automationTag = "automation";

/** The create request for the conversation of a run; the same for each attempt. */
export function toRunRequest(
  { id, name, prompt, conversation, approvals }: Automation,
  run: AutomationRun & { readonly conversationId: string },
  workingDir: string,
): RunRequest {
  const { working_dir: _, repository, llm_profile, tags, ...fields } = conversation;
  const { confirmation_policy: policy, max_iterations: maxIterations, ...given } = fields;
  const dueTime = new Date(run.dueAtMs).toISOString();
  const text = fillPrompt(prompt, {
    due_time: dueTime,
    automation: name,
    origin: run.origin,
    payload: run.payload === null ? null : (JSON.parse(run.payload) as unknown),
  });
  const order = repository == null ? text : `${cloneOrder(repository)}\n\n${text}`;
  return {
    ...given,
    ...(policy == null ? {} : { confirmation_policy: policy }),
    ...(maxIterations == null ? {} : { max_iterations: maxIterations }),
    conversation_id: run.conversationId,
    llm_profile: llm_profile ?? null,
    start_depth: depthOf(run),
    title: `${name} ${dueTime}`.slice(0, 200),
    tags: { ...tags, [automationTag]: id },
    workspace: { kind: "LocalWorkspace", working_dir: workingDir },
    approval_policy: toApprovalPolicy(approvals),
    initial_message: { role: "user", content: [{ type: "text", text: order }], run: true },
  };
}

/** How many conversations it was started through, where the payload of an event says so. */
function depthOf({ origin, payload }: AutomationRun): number {
  if (origin !== "event" || payload === null) return 0;
  const { depth } = JSON.parse(payload) as { readonly depth?: unknown };
  return typeof depth === "number" ? depth : 0;
}

/** The agent clones behind its wall, with the network and the secrets of the conversation; the server itself runs no Git for it. */
function cloneOrder({ url, ref }: { readonly url: string; readonly ref?: string | null }): string {
  const revision = ref == null ? "" : ` and check out ${ref}`;
  return `First clone the Git repository ${url} into the working directory${revision}. If that fails, say so and stop.`;
}

const rejectAfterSeconds = 1;

function toApprovalPolicy({
  on_ask: onAsk = "reject",
  timeout_seconds: timeoutSeconds = 3_600,
  reviewer,
}: UnattendedApprovals): NonNullable<RunRequest["approval_policy"]> {
  return {
    timeout_seconds: onAsk === "wait" ? timeoutSeconds : rejectAfterSeconds,
    on_timeout: "reject",
    ...(reviewer == null ? {} : { reviewer }),
  };
}
