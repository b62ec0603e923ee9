import type { AgentContext, PermissionOption, RequestPermissionRequest } from "@agentclientprotocol/sdk";
import { ApiError, describeRule, type ConvokeClient } from "@convoke/client";
import type { AnswerApprovalsRequest, PendingApproval } from "@convoke/protocol";

type Answer = AnswerApprovalsRequest["answers"][number];

export type PermissionDeps = {
  readonly client: ConvokeClient;
  readonly editor: Pick<AgentContext, "request">;
  readonly sessionId: string;
  /** Aborted when nothing waits any more: somebody has answered elsewhere, or the turn is over. */
  readonly signal: AbortSignal;
};

/** `dismissed`: the person closed a question without an answer, which ends the turn. */
export type PermissionOutcome = "answered" | "dismissed";

const approvals = "/api/conversations/{conversation_id}/approvals";

/** Asks the editor about each action that waits, one after the other, and stores each answer at once. */
export async function askPermissions(deps: PermissionDeps): Promise<PermissionOutcome> {
  const { client, sessionId, signal } = deps;
  const params = { conversation_id: sessionId };
  const { items } = await client.call(`GET ${approvals}`, { params, signal });
  for (const item of items) {
    const answer = await askAbout(item, deps);
    if (signal.aborted) return "answered";
    if (answer === null) return "dismissed";
    try {
      await client.call(`POST ${approvals}`, { params, body: { answers: [answer] } });
    } catch (error) {
      // Somebody else has answered meanwhile.
      if (!(error instanceof ApiError && error.status === 409)) throw error;
    }
  }
  return "answered";
}

async function askAbout(item: PendingApproval, deps: PermissionDeps): Promise<Answer | null> {
  const { editor, sessionId, signal } = deps;
  const request: RequestPermissionRequest = {
    sessionId,
    toolCall: {
      toolCallId: item.action_id,
      content: [{ type: "content", content: { type: "text", text: describeRisk(item) } }],
    },
    options: [...(await optionsOf(item, deps))],
  };
  const options = { cancellationSignal: signal, stopWaitingOnCancel: true };
  try {
    const { outcome } = await editor.request("session/request_permission", request, options);
    return outcome.outcome === "cancelled" ? null : toAnswer(outcome.optionId, item.action_id);
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

/** "Always" stores the narrowest rules that allow the action, in this conversation only. */
async function optionsOf(item: PendingApproval, deps: PermissionDeps): Promise<PermissionOption[]> {
  const always = await describeAlways(item, deps);
  return [
    { optionId: "allow_once", name: "Allow", kind: "allow_once" },
    ...(always === null ? [] : [{ optionId: "allow_always", name: always, kind: "allow_always" } as const]),
    { optionId: "reject_once", name: "Reject", kind: "reject_once" },
  ];
}

/** The rules in words, and how many of the calls until now they would have let pass; null when no rule can allow the action. */
async function describeAlways(
  { conversation_id: id, proposed_rules: rules }: PendingApproval,
  { client, signal }: PermissionDeps,
): Promise<string | null> {
  if (rules.length === 0) return null;
  const words = rules.map((rule) => describeRule(rule).replace(/^allow /u, "")).join(", ");
  const { matches } = await client.call("POST /api/conversations/{conversation_id}/allow_rules/dry_run", {
    params: { conversation_id: id },
    body: { rules },
    signal,
  });
  const before = matches.length === 1 ? "1 call" : `${matches.length} calls`;
  return `Always allow here: ${words} (fits ${before} until now)`;
}

function describeRisk({ security_risk: risk, reasons, decided_by: by }: PendingApproval): string {
  const note = by?.rule["note"];
  const why = typeof note === "string" ? [...reasons, note] : reasons;
  return why.length === 0 ? `Risk: ${risk}` : `Risk: ${risk}. ${why.join(" ")}`;
}

function toAnswer(optionId: string, actionId: string): Answer {
  switch (optionId) {
    case "allow_once":
      return { action_id: actionId, accept: true };
    case "allow_always":
      return { action_id: actionId, accept: true, scope: "conversation" };
    default:
      return { action_id: actionId, accept: false, reason: "Rejected in the editor." };
  }
}
