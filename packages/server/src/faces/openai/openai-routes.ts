import { randomUUID } from "node:crypto";
import {
  StartConversationRequest,
  type ChatCompletionRequest,
  type OpenAIResponseRequest,
  type openAiRoutes,
} from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import type { DefaultPlace } from "../../tools/conversation-host.ts";
import type { ToolHost } from "@convoke/tool-host";
import type { Conversation } from "../../engine/conversation.ts";
import type { Directory } from "../../directory/directory.ts";
import type { ApplicationDatabase } from "../../database/application-database.ts";
import type { Caller } from "../../security/caller.ts";
import type { CompletedBody } from "../../http/read-request.ts";
import type { RouteHandler, RouteRequest } from "../../http/mount.ts";
import { Fault } from "../../lib/fault.ts";
import type { Logger } from "../../lib/logger.ts";
import { normalizeUuid } from "../../lib/uuid7.ts";
import { resolveConnection } from "../../settings/provider-connections.ts";
import type { SettingsStore } from "../../settings/settings-store.ts";
import type { JsonObject } from "../../settings/stored-settings.ts";
import { usualToolsOf } from "../../settings/usual-tools.ts";
import { readStartRequest } from "../agent-server/conversations/start-request.ts";
import { calledTooDeep, readCallDepth } from "../../lib/call-depth.ts";
import { ChatRuns } from "./chat-runs.ts";
import { ChatStore } from "./chat-store.ts";
import { describeHistory, readChat, readResponseChat, type ChatInput } from "./chat-input.ts";
import { completion, completionStream, type CompletionDeps, type Usage } from "./completion.ts";
import { followAnswer } from "./follow-answer.ts";
import { response } from "./response.ts";
import type { Clock } from "../../lib/clock.ts";

export type OpenAiDeps = {
  readonly directory: Directory;
  readonly settings: SettingsStore;
  readonly validator: Validator;
  readonly toolHost: Pick<ToolHost, "catalogue">;
  /** Fills in what a create request leaves out, from its user's settings. */
  readonly complete: (body: unknown, caller: Caller) => Promise<CompletedBody>;
  readonly database: ApplicationDatabase;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly hosts: Pick<DefaultPlace, "defaultFolder">;
};

const prefix = "openhands_";
const conversationHeader = "x-openhands-serverconversation-id";

/** Profiles as models, conversations as chats. */
export function openAiHandlers(deps: OpenAiDeps): Record<keyof typeof openAiRoutes, RouteHandler> {
  const chats = new ChatStore(deps);
  const runs = new ChatRuns<Conversation>(
    ({ id, state }) => deps.directory.isLoaded(id) && state.status === "running",
  );
  const { directory, settings, clock } = deps;

  async function modelsOf(userId: string): Promise<Map<string, JsonObject>> {
    const stored = (await settings.load(userId)).settings;
    const connected = (llm: JsonObject): JsonObject => resolveConnection(stored, llm) ?? llm;
    const profiles = Object.entries(stored.profiles);
    const models = new Map(profiles.map(([name, llm]) => [`${prefix}${name}`, connected(llm)]));
    const usual = `${prefix}default`;
    if (!models.has(usual) && typeof stored.llm["model"] === "string")
      models.set(usual, connected(stored.llm));
    return models;
  }

  async function openChat(
    caller: Caller,
    model: string,
    chat: ChatInput,
    wanted: string | null,
    callDepth: number,
  ): Promise<Conversation> {
    const llm = (await modelsOf(caller.userId)).get(model);
    if (llm === undefined)
      throw new Fault("missing", "model_not_found", `There is no model ${model}. GET /v1/models lists them.`);
    if (wanted !== null) {
      const conversation = await directory.open(caller, wanted);
      // It may be the one that asks.
      if ((conversation.configuration.config.call_depth ?? 0) < callDepth) throw calledTooDeep();
      return conversation;
    }
    const known = await chats.find(caller.userId, model, chat.history);
    if (known !== null && (await directory.exists(caller, known))) {
      const conversation = await directory.open(caller, known);
      if ((conversation.configuration.config.call_depth ?? 0) >= callDepth) return conversation;
    }
    const id = randomUUID();
    const suffix = [chat.system, describeHistory(chat.history)].filter((text) => text !== "").join("\n\n");
    const { body: completed } = await deps.complete(
      { workspace: { kind: "LocalWorkspace", working_dir: await deps.hosts.defaultFolder() } },
      caller,
    );
    const tools = usualToolsOf(deps.toolHost.catalogue, llm.model);
    const agent = (completed as { agent?: JsonObject }).agent ?? { kind: "Agent", tools };
    const request = {
      ...(completed as JsonObject),
      agent: {
        ...agent,
        llm: { ...llm, stream: true },
        ...(suffix === "" ? {} : { agent_context: withSuffix(agent["agent_context"], suffix) }),
      },
    };
    const checked = deps.validator.check<StartConversationRequest>(StartConversationRequest, request, [
      "body",
    ]);
    if (!checked.ok)
      throw new Fault("caller", "validation", "The stored settings do not make an agent.", checked.errors);
    const start = readStartRequest(checked.value, true);
    const config = { ...start.config, ...(callDepth === 0 ? {} : { call_depth: callDepth }) };
    await directory.create(caller, { id, ...start, config });
    return await directory.open(caller, id);
  }

  return {
    listOpenAiModels: async ({ caller }) => {
      const data = [...(await modelsOf(caller.userId)).keys()].map((id) => ({
        id,
        object: "model",
        created: 0,
        owned_by: "openhands",
      }));
      return { json: { object: "list", data } };
    },

    createChatCompletion: async (asked) => {
      const request = asked.body as ChatCompletionRequest;
      const { id, deps: completionDeps } = await ask(asked, request.model, readChat(request));
      const reply = { headers: { "X-OpenHands-ServerConversation-ID": id } };
      if (request.stream !== true) return { ...reply, json: await completion(completionDeps) };
      const includesUsage = request.stream_options?.["include_usage"] === true;
      return {
        ...reply,
        stream: completionStream(completionDeps, includesUsage),
        contentType: "text/event-stream",
      };
    },

    createResponse: async (asked) => {
      const request = asked.body as OpenAIResponseRequest;
      const { id, deps: completionDeps } = await ask(asked, request.model, readResponseChat(request));
      const json = await response(completionDeps, request, clock);
      return { headers: { "X-OpenHands-ServerConversation-ID": id }, json };
    },
  };

  async function endRun(conversation: Conversation): Promise<void> {
    if (conversation.state.status !== "running") return;
    try {
      await conversation.halts.interrupt();
    } catch (error) {
      const fields = { conversation: conversation.id, error: String(error) };
      deps.logger.warn(fields, "a run that nobody waits for goes on");
    }
  }

  /** Sends the message; the answer is read separately. */
  async function ask(
    { caller, headers, signal }: RouteRequest,
    model: string,
    chat: ChatInput,
  ): Promise<{ readonly id: string; readonly deps: CompletionDeps }> {
    const callDepth = readCallDepth(headers);
    const wanted = conversationIdOf(headers[conversationHeader]);
    const conversation = await openChat(caller, model, chat, wanted, callDepth);
    const before = usageOf(conversation);
    const afterSeq = conversation.state.lastSeq;
    await runs.begin(caller.userId, conversation, async () => {
      await conversation.send({ message: chat.message, wantsRun: true });
    });
    // A model call of a conversation that was halted is ended with it; a person who disconnects may come back.
    if (callDepth > 0) onAbort(signal, () => void endRun(conversation));
    const { id } = conversation;
    const asked = chat.message.content ?? [];
    const question = asked.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
    const completionDeps: CompletionDeps = {
      id,
      model,
      nowMs: clock.nowMs(),
      parts: followAnswer(await directory.watch(caller, id), afterSeq, signal),
      usage: async () => {
        await conversation.queue.settled();
        return difference(usageOf(conversation), before);
      },
      onAnswer: async (text: string) => {
        const turns = [...chat.history, { role: "user", text: question }, { role: "assistant", text }];
        await chats.remember(caller.userId, model, turns, id);
      },
    };
    return { id, deps: completionDeps };
  }
}

function onAbort(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener("abort", act, { once: true });
}

/** The chat's instructions come after those of the settings. */
function withSuffix(context: unknown, suffix: string): JsonObject {
  const own = (context ?? {}) as JsonObject;
  const before = own["system_message_suffix"];
  const isSet = typeof before === "string" && before !== "";
  return { ...own, system_message_suffix: isSet ? `${before}\n\n${suffix}` : suffix };
}

function conversationIdOf(header: string | string[] | undefined): string | null {
  if (typeof header !== "string" || header === "") return null;
  return normalizeUuid(header) ?? header;
}

function usageOf({ state }: Conversation): Usage {
  let [prompt, completed] = [0, 0];
  for (const metrics of Object.values(state.stats)) {
    const tokens = (
      metrics as {
        accumulated_token_usage?: { prompt_tokens?: number; completion_tokens?: number } | null;
      } | null
    )?.accumulated_token_usage;
    prompt += tokens?.prompt_tokens ?? 0;
    completed += tokens?.completion_tokens ?? 0;
  }
  return { prompt_tokens: prompt, completion_tokens: completed, total_tokens: prompt + completed };
}

function difference(now: Usage, before: Usage): Usage {
  const [prompt, completed] = [
    now.prompt_tokens - before.prompt_tokens,
    now.completion_tokens - before.completion_tokens,
  ];
  return { prompt_tokens: prompt, completion_tokens: completed, total_tokens: prompt + completed };
}
