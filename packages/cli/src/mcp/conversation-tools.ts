import type { ConvokeClient } from "@convoke/client";
import type { Event, StartConversationRequest, TrimmedEvent } from "@convoke/protocol";
import { asFields, textAt } from "../acp/fields.ts";
import type { ToolName } from "./tool-schemas.ts";

export type ToolDeps = {
  /** A client whose conversations start at a depth, see `x-convoke-start-depth`. */
  readonly clientAt: (depth: number) => ConvokeClient;
  /** The create request of a new conversation with this folder; the server's own one when it is undefined. */
  readonly startRequest: (workingDir: string | undefined) => StartConversationRequest;
  readonly mayApprove: boolean;
};

export type ToolCall = {
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly depth: number;
  readonly signal: AbortSignal;
  /** Shown while the call lasts. */
  readonly report: (message: string) => Promise<void>;
};

type Result = Readonly<Record<string, unknown>>;

/** The call cannot be carried out; the words are for the model that made it. */
export class ToolRefused extends Error {
  override readonly name = "ToolRefused";
}

const maxTextLength = 4_000;

/** Carries out the calls of another agent. Rejects with {@link ToolRefused}, or as the client does. */
export function callTool(name: ToolName, call: ToolCall, deps: ToolDeps): Promise<Result> {
  const client = deps.clientAt(call.depth);
  const { arguments: given } = call;
  const id = textAt(given, "id");
  switch (name) {
    case "start_conversation":
      return start(client, given, deps);
    case "send_message":
      return send(client, id, String(given["message"]));
    case "wait_for_conversation":
      return wait(client, id, Number(given["timeout_s"] ?? 30) * 1_000, call);
    case "read_conversation":
      return read(client, id, given);
    case "answer_approval":
      return approve(client, id, given, deps.mayApprove);
    case "stop_conversation":
      return stop(client, id);
    case "search":
      return search(client, given);
  }
}

async function start(client: ConvokeClient, given: Result, { startRequest }: ToolDeps): Promise<Result> {
  const folder = given["working_dir"];
  const request = startRequest(typeof folder === "string" && folder !== "" ? folder : undefined);
  const content = [{ type: "text" as const, text: String(given["task"]), cache_prompt: false }];
  const { id, execution_status: status = "running" } = await client.startConversation({
    ...request,
    initial_message: { role: "user", content, run: true },
  });
  return { id, status };
}

async function send(client: ConvokeClient, id: string, text: string): Promise<Result> {
  const content = [{ type: "text" as const, text, cache_prompt: false }];
  return { id, event_id: (await client.sendMessage(id, { role: "user", content, run: true })) ?? "" };
}

/** Follows the log, so that nothing is polled; what the agent does is progress. */
async function wait(client: ConvokeClient, id: string, timeoutMs: number, call: ToolCall): Promise<Result> {
  const limit = AbortSignal.any([call.signal, AbortSignal.timeout(timeoutMs)]);
  const before = await stateOf(client, id);
  if (before["status"] !== "running") return before;
  for await (const item of client.follow(id, { signal: limit })) {
    if (item.type === "signal") {
      // The first frame says how it stands where the stream begins.
      const state = item.frame["key"] === "full_state" ? asFields(item.frame["value"]) : {};
      const status = textAt(state, "execution_status");
      if (status !== "" && status !== "running") break;
      if (status !== "") await call.report("The agent is at work.");
      continue;
    }
    if (item.event.kind === "ActionEvent")
      await call.report(`${item.event.tool_name}: ${item.event.summary ?? "begun"}`);
    if (isRest(item.event)) break;
  }
  return await stateOf(client, id);
}

function isRest(event: Event): boolean {
  return (
    event.kind === "ConversationStateUpdateEvent" &&
    event.key === "execution_status" &&
    event.value !== "running"
  );
}

async function read(client: ConvokeClient, id: string, given: Result): Promise<Result> {
  const after = given["after_event_id"];
  const hasCursor = typeof after === "string" && after !== "";
  const limit = Number(given["limit"] ?? 30);
  const { items } = await client.searchEvents(id, {
    limit: Math.min(limit + 1, 100),
    trim: maxTextLength,
    ...(hasCursor ? { page_id: after } : {}),
  });
  const events = items
    .map(whole)
    .filter((event) => !hasCursor || event.id !== after)
    .slice(0, limit);
  return {
    ...(await stateOf(client, id)),
    cursor: events.at(-1)?.id ?? (hasCursor ? after : ""),
    events: events.map((event) => ({
      id: event.id ?? "",
      kind: event.kind,
      source: event.source ?? "",
      text: textOf(event),
    })),
  };
}

/** The event inside of one that was trimmed, which is beside the schema of a page. */
function whole(item: Event | TrimmedEvent): Event {
  return item.kind === "TrimmedEvent" ? (item.event as unknown as Event) : item;
}

async function approve(
  client: ConvokeClient,
  id: string,
  given: Result,
  mayApprove: boolean,
): Promise<Result> {
  if (!mayApprove)
    throw new ToolRefused(
      "Approvals are for a person: ask one to answer on the page or in the terminal. This server was started without --allow-approve.",
    );
  const { action_id: actionId, accept, reason } = given;
  await client.call("POST /api/conversations/{conversation_id}/approvals", {
    params: { conversation_id: id },
    body: {
      answers: [
        {
          action_id: String(actionId),
          accept: accept === true,
          ...(typeof reason === "string" ? { reason } : {}),
        },
      ],
    },
  });
  return await statusOf(client, id);
}

async function stop(client: ConvokeClient, id: string): Promise<Result> {
  await client.interrupt(id);
  return await statusOf(client, id);
}

async function search(client: ConvokeClient, given: Result): Promise<Result> {
  const query = { q: String(given["query"]), limit: Number(given["limit"] ?? 20) };
  const { items } = await client.call("GET /api/search", { query });
  return {
    hits: items.map(({ conversation_id, event_id, kind, title, snippet }) => ({
      conversation_id,
      event_id,
      kind,
      title: title ?? "",
      text: snippet.map((part) => part.text).join(""),
    })),
  };
}

async function statusOf(client: ConvokeClient, id: string): Promise<Result> {
  return { id, status: (await client.getConversation(id)).execution_status ?? "idle" };
}

/** How a conversation stands, also as the text of its resource. */
export async function stateOf(client: ConvokeClient, id: string): Promise<Result> {
  const params = { conversation_id: id };
  // Read first: an answer that is read before the status can lack what the run said before it ended.
  const status = await statusOf(client, id);
  const { response } = await client.call("GET /api/conversations/{conversation_id}/agent_final_response", {
    params,
  });
  const { items } = await client.call("GET /api/conversations/{conversation_id}/approvals", { params });
  return {
    ...status,
    answer: response,
    waiting: items.map((item) => ({
      action_id: item.action_id,
      tool: item.tool_name,
      risk: item.security_risk,
      summary: item.summary ?? JSON.stringify(item.action).slice(0, maxTextLength),
    })),
  };
}

function textOf(event: Event): string {
  switch (event.kind) {
    case "MessageEvent":
      return joined(event.llm_message.content ?? []);
    case "ActionEvent":
      return `${event.tool_name} ${event.tool_call.arguments}`.slice(0, maxTextLength);
    case "ObservationEvent":
      return joined((event.observation as { content?: readonly object[] }).content ?? []);
    case "AgentErrorEvent":
      return event.error;
    case "ConversationErrorEvent":
      return event.detail;
    case "ConversationStateUpdateEvent":
      return `${event.key} ${JSON.stringify(event.value)}`.slice(0, maxTextLength);
    default:
      return "";
  }
}

function joined(parts: readonly object[]): string {
  const texts = parts.flatMap((part) => ("text" in part && typeof part.text === "string" ? [part.text] : []));
  return texts.join("\n").slice(0, maxTextLength);
}
