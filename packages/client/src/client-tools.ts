import type { PendingToolCalls, ToolResult } from "@convoke/protocol";
import { ApiError } from "./api-error.ts";
import { backOffMs, pause } from "./back-off.ts";
import type { ConvokeClient } from "./convoke-client.ts";

/** What a tool returned: text, or parts with texts and images. */
export type ClientToolOutput = ToolResult["content"];

/** Carries out a call of a client tool. What it throws is the error that the model reads. */
export type ClientTool = (
  args: Readonly<Record<string, unknown>>,
  call: PendingToolCalls["items"][number],
) => ClientToolOutput | Promise<ClientToolOutput>;

export type ClientToolOptions = {
  /** By the name of the tool. Calls of other tools are left to other clients. */
  readonly tools: Readonly<Record<string, ClientTool>>;
  /** Ends it. */
  readonly signal: AbortSignal;
};

/**
 * Answers the calls of client tools with `waits_for_result` in a conversation, those that wait already too, until the
 * signal aborts. Each call is carried out once by this process; a result that nobody waits for any more is dropped.
 * Rejects with {@link ApiError} when the conversation cannot be followed.
 */
export async function serveClientTools(
  client: ConvokeClient,
  conversationId: string,
  { tools, signal }: ClientToolOptions,
): Promise<void> {
  const begun = new Set<string>();
  const running = new Set<Promise<void>>();
  const failed = Promise.withResolvers<never>();
  const answerPending = async (): Promise<void> => {
    const params = { conversation_id: conversationId };
    const pending = await repeated(signal, () => client.call(`GET ${path}`, { params, signal }));
    const items = pending?.items ?? [];
    for (const call of items) {
      const tool = tools[call.tool_name];
      if (tool === undefined || begun.has(call.action_id)) continue;
      begun.add(call.action_id);
      const answering = answer(client, conversationId, { call, tool, signal });
      running.add(answering);
      answering.catch(failed.reject).finally(() => running.delete(answering));
    }
  };
  const follow = async (): Promise<void> => {
    // The first frame of each connection is a full state: what was handed over meanwhile is asked for then.
    for await (const item of client.follow(conversationId, { signal })) {
      const { key } = (item.type === "event" ? item.event : item.frame) as { readonly key?: unknown };
      if (key === "pending_tool_call" || key === "full_state") await answerPending();
    }
  };
  try {
    await Promise.race([follow(), failed.promise]);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  await Promise.allSettled(running);
}

const path = "/api/conversations/{conversation_id}/tool_results";

type Answering = {
  readonly call: PendingToolCalls["items"][number];
  readonly tool: ClientTool;
  readonly signal: AbortSignal;
};

async function answer(
  client: ConvokeClient,
  conversationId: string,
  { call, tool, signal }: Answering,
): Promise<void> {
  const { kind: _, ...args } = call.action;
  const result = await carryOut(() => tool(args, call));
  try {
    const params = { conversation_id: conversationId };
    const body = { results: [{ tool_call_id: call.action_id, ...result }] };
    // The same result again is harmless.
    await repeated(signal, () => client.call(`POST ${path}`, { params, body }));
  } catch (error) {
    // An interrupt, the deadline or another client was first.
    if (!(error instanceof ApiError && error.status === 409)) throw error;
  }
}

/** Repeats a request until the server answers it; undefined if the signal aborts first. */
async function repeated<Reply>(signal: AbortSignal, ask: () => Promise<Reply>): Promise<Reply | undefined> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted) return undefined;
      if (error instanceof ApiError && error.status < 500 && error.status !== 429) throw error;
    }
    await pause(backOffMs(failures), signal);
  }
}

async function carryOut(
  run: () => ClientToolOutput | Promise<ClientToolOutput>,
): Promise<Pick<ToolResult, "content" | "is_error">> {
  try {
    return { content: await run() };
  } catch (error) {
    return { content: error instanceof Error ? error.message : String(error), is_error: true };
  }
}
