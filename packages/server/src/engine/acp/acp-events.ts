import type { ACPToolCallEvent } from "@convoke/protocol";
import type { AcpSession } from "../../extensions/acp/external-agent.ts";
import type { AcpModels } from "../../extensions/acp/acp-models.ts";
import type { EventDraft } from "../../events/event-draft.ts";
import { stateUpdate } from "../../events/state-update.ts";
import { warning } from "../../events/warning.ts";
import type { AcpCall, AcpState } from "../state/acp-state.ts";

/** A tool call of the other agent, as far as it is known. */
export type CallFacts = AcpCall & {
  readonly status: string;
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
  readonly content?: readonly unknown[];
};

/** Longer values are shown by their beginning: the agent has the rest, and a log is read in pages. */
const maxValueCharacters = 64_000;

/** One change of a tool call that matters: it began, or ended. */
export function callEvent(call: CallFacts): EventDraft {
  const { content, kind, rawInput, rawOutput } = call;
  const body: Omit<ACPToolCallEvent, "id" | "timestamp"> = {
    kind: "ACPToolCallEvent",
    source: "agent",
    tool_call_id: call.id,
    title: call.title,
    status: call.status,
    ...(kind === null ? {} : { tool_kind: kind }),
    ...(isGiven(rawInput) ? { raw_input: bounded(rawInput) } : {}),
    ...(isGiven(rawOutput) ? { raw_output: bounded(rawOutput) } : {}),
    ...(content === undefined ? {} : { content: content.map(bounded) }),
    is_error: call.status === "failed",
  };
  return { body };
}

/** Ends calls that nobody will end any more. */
export function brokenCalls(calls: readonly AcpCall[], why: string): EventDraft[] {
  return calls.map((call) => callEvent({ ...call, status: "failed", rawOutput: why }));
}

/** The session that the conversation has from here on. */
export function sessionEvents(session: AcpSession, command: string): EventDraft[] {
  const { id, agentName, agentVersion, lost, leftServers, models } = session;
  return [
    stateUpdate("acp_session", {
      session_id: id,
      agent_name: agentName,
      agent_version: agentVersion,
      ...shownModels(models),
    }),
    ...(lost === null
      ? []
      : [
          warning({
            code: "acp_session_lost",
            detail: `The agent "${command}" began a new session, because ${lost}. It remembers nothing of what was said before.`,
          }),
        ]),
    ...(leftServers.length === 0
      ? []
      : [
          warning({
            code: "acp_mcp_servers_left",
            detail: `The agent "${command}" cannot connect to these MCP servers and works without them: ${leftServers.join(", ")}.`,
          }),
        ]),
  ];
}

export function shownModels({ available, by, current }: AcpModels) {
  return {
    current_model_id: current,
    available_models: available,
    supports_runtime_model_switch: by !== null,
  };
}

/** Recorded before the prompt is sent: these messages have been read, and the agent is at work. */
export function promptBegun(session: string, messages: readonly string[], sawSeq: number): EventDraft {
  return {
    ...stateUpdate("acp_prompt", { status: "begun", session_id: session, messages }),
    meta: { sawSeq },
  };
}

/** `reason` is the agent's, or ours where it gave none. */
export function promptEnded(reason: string): EventDraft {
  return stateUpdate("acp_prompt", { status: "ended", reason });
}

/** What a process that is gone left open. */
export function lostPrompt({ calls }: AcpState): EventDraft[] {
  return [...brokenCalls(calls, "The server stopped during this call."), promptEnded("interrupted")];
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function bounded(value: unknown): unknown {
  const text = JSON.stringify(value);
  if (text.length <= maxValueCharacters) return value;
  return {
    truncated: true,
    characters: text.length,
    beginning: text.slice(0, maxValueCharacters).toWellFormed(),
  };
}
