import { randomUUID } from "node:crypto";
import { StartConversationRequest, type ClientToolSpec } from "@convoke/protocol";
import type { Watch } from "../../directory/watch.ts";
import type { Conversation } from "../../engine/conversation.ts";
import type { OpenAction } from "../../engine/state/conversation-state.ts";
import { pendingCalls } from "../../engine/state/pending-calls.ts";
import type { RouteRequest } from "../../http/mount.ts";
import { calledTooDeep, readCallDepth } from "../../lib/call-depth.ts";
import { Fault, invalidField } from "../../lib/fault.ts";
import type { Caller } from "../../security/caller.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";
import { profileOf } from "../../settings/profiles.ts";
import { resolveConnection } from "../../settings/provider-connections.ts";
import type { JsonObject } from "../../settings/stored-settings.ts";
import { usualToolsOf } from "../../settings/usual-tools.ts";
import type { FaceDeps } from "../face-deps.ts";
import { withInstructions } from "../agent-server/conversations/complete-start.ts";
import { readStartRequest } from "../agent-server/conversations/start-request.ts";
import { describeHistory, type ChatInput } from "./chat-input.ts";
import { ChatRuns } from "./chat-runs.ts";
import { ChatStore } from "./chat-store.ts";
import type { Usage } from "./completion.ts";
import type { CallOutput } from "./response-request.ts";
import { usageOf, usageSince } from "./run-usage.ts";

const prefix = "openhands_";

/** A request for an answer. */
export type Question = {
  readonly model: string;
  readonly chat: ChatInput;
  /** The conversation that is named; null: that of the chat, or a new one. */
  readonly conversationId: string | null;
  readonly clientTools: readonly ClientToolSpec[];
  /** Outputs of calls: where all of them wait, they answer them, and the message is `rest` alone. */
  readonly outputs?: readonly CallOutput[];
  readonly rest?: ChatInput | null;
};

/** A message that was sent, and the way to what comes of it. */
export type Asked = {
  readonly conversation: Conversation;
  readonly watch: Watch;
  /** The end of the log before the message. */
  readonly afterSeq: number;
  /** The calls that were open before the message. */
  readonly open: readonly OpenAction[];
  /** Tokens that the conversation had spent before it. */
  readonly before: Usage;
  /** Tokens spent since the request came. */
  readonly usage: () => Promise<Usage>;
  /** Stores that the chat with these answers is this conversation. */
  readonly remember: (texts: readonly string[]) => Promise<void>;
};

/** Conversations behind OpenAI's wire. */
export class Chats {
  readonly #deps: FaceDeps;
  readonly #store: ChatStore;
  readonly #runs: ChatRuns<Conversation>;

  constructor(deps: FaceDeps) {
    this.#deps = deps;
    this.#store = new ChatStore(deps);
    this.#runs = new ChatRuns(({ id, state }) => deps.directory.isLoaded(id) && state.status === "running");
  }

  /** The stored profiles of a user by the name that this wire has for them. */
  async modelsOf(userId: string): Promise<Map<string, JsonObject>> {
    const stored = (await this.#deps.settings.load(userId)).settings;
    const connected = (llm: JsonObject): JsonObject => resolveConnection(stored, llm) ?? llm;
    const profiles = Object.entries(stored.profiles);
    const models = new Map(profiles.map(([name, llm]) => [`${prefix}${name}`, connected(llm)]));
    const usual = `${prefix}default`;
    if (!models.has(usual) && typeof stored.llm["model"] === "string")
      models.set(usual, connected(stored.llm));
    return models;
  }

  /** Sends the message; the answer is read separately. */
  async ask({ caller, headers, signal }: RouteRequest, question: Question): Promise<Asked> {
    const { directory } = this.#deps;
    const { chat, model } = question;
    const callDepth = readCallDepth(headers);
    const conversation = await this.#open(caller, question, callDepth);
    const before = usageOf(conversation);
    const { lastSeq: afterSeq, openActions: open } = conversation.state;
    await this.#runs.begin(caller.userId, conversation, async () => await deliver(conversation, question));
    // A model call of a conversation that was halted is ended with it; a person who disconnects may come back.
    if (callDepth > 0) onAbort(signal, () => void this.#endRun(conversation));
    const asked = chat.message.content ?? [];
    const words = asked.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n");
    return {
      conversation,
      watch: await directory.watch(caller, conversation.id),
      afterSeq,
      open,
      before,
      usage: async () => {
        await conversation.queue.settled();
        return usageSince(conversation, before);
      },
      remember: async (texts) => {
        const answers = texts.map((text) => ({ role: "assistant", text }));
        const turns = [...chat.history, { role: "user", text: words }, ...answers];
        await this.#store.remember(caller.userId, model, turns, conversation.id);
      },
    };
  }

  async #open(caller: Caller, question: Question, callDepth: number): Promise<Conversation> {
    const { directory } = this.#deps;
    const { model, chat, conversationId: wanted } = question;
    const llm = (await this.modelsOf(caller.userId)).get(model);
    if (llm === undefined)
      throw new Fault("missing", "model_not_found", `There is no model ${model}. GET /v1/models lists them.`);
    if (wanted !== null) {
      const conversation = await directory.open(caller, wanted);
      // It may be the one that asks.
      if ((conversation.configuration.config.call_depth ?? 0) < callDepth) throw calledTooDeep();
      return withTools(conversation, question.clientTools);
    }
    const known = await this.#store.find(caller.userId, model, chat.history);
    if (known !== null && (await directory.exists(caller, known))) {
      const conversation = await directory.open(caller, known);
      if ((conversation.configuration.config.call_depth ?? 0) >= callDepth)
        return withTools(conversation, question.clientTools);
    }
    return await this.#create(caller, question, llm, callDepth);
  }

  async #create(
    caller: Caller,
    { model, chat, clientTools }: Question,
    llm: JsonObject,
    callDepth: number,
  ): Promise<Conversation> {
    const { complete, directory, hosts, settings, toolHost, validator } = this.#deps;
    const id = randomUUID();
    const suffix = [chat.system, describeHistory(chat.history)].filter((text) => text !== "").join("\n\n");
    const name = model.slice(prefix.length);
    const isStored = profileOf((await settings.load(caller.userId)).settings, name) !== null;
    const {
      body: completed,
      settingsVersion,
      settingsUsed,
    } = await complete(
      {
        workspace: { kind: "LocalWorkspace", working_dir: await hosts.defaultFolder() },
        ...(isStored ? { profile_name: name } : {}),
      },
      caller,
    );
    const tools = usualToolsOf(toolHost.catalogue, llm.model);
    const agent = (completed as { agent?: JsonObject }).agent ?? { kind: "Agent", tools };
    const request = {
      ...(completed as JsonObject),
      agent: {
        ...agent,
        llm: { ...llm, stream: true },
        ...(suffix === "" ? {} : { agent_context: withInstructions(agent["agent_context"], suffix) }),
      },
      ...(clientTools.length === 0 ? {} : { client_tools: clientTools }),
    };
    const checked = validator.check<StartConversationRequest>(StartConversationRequest, request, ["body"]);
    if (!checked.ok)
      throw new Fault("caller", "validation", "The stored settings do not make an agent.", checked.errors);
    const start = readStartRequest(checked.value, true);
    const config = {
      ...start.config,
      ...withoutUndefined({ settings_version: settingsVersion, settings_used: settingsUsed }),
      ...(callDepth === 0 ? {} : { call_depth: callDepth }),
    };
    await directory.create(caller, { id, ...start, config });
    return await directory.open(caller, id);
  }

  async #endRun(conversation: Conversation): Promise<void> {
    if (conversation.state.status !== "running") return;
    try {
      await conversation.halts.interrupt();
    } catch (error) {
      const fields = { conversation: conversation.id, error: String(error) };
      this.#deps.logger.warn(fields, "a run that nobody waits for goes on");
    }
  }
}

/** Answers the calls that wait for the outputs, if all of them do; any other output is a part of the message. */
async function deliver(
  conversation: Conversation,
  { chat, outputs = [], rest = null }: Question,
): Promise<void> {
  const pending = new Set(pendingCalls(conversation.state).map(({ toolCallId }) => toolCallId));
  if (outputs.length === 0 || outputs.some(({ call }) => !pending.has(call))) {
    await conversation.send({ message: chat.message, wantsRun: true });
    return;
  }
  await conversation.receive(
    outputs.map(({ call, text }) => ({
      call,
      content: [{ type: "text", text, cache_prompt: false }],
      isError: false,
    })),
  );
  if (rest !== null) await conversation.send({ message: rest.message, wantsRun: true });
}

/** The tools of a conversation are those that it began with; who sends them again sends the same. */
function withTools(conversation: Conversation, tools: readonly ClientToolSpec[]): Conversation {
  const known = conversation.configuration.config.client_tools ?? [];
  const index = tools.findIndex(({ name }) => !known.some((one) => one.name === name));
  if (index === -1) return conversation;
  const msg = "The conversation has no such tool: its tools are those of its first request. Begin a new one.";
  throw invalidField(["body", "tools", index, "name"], msg);
}

function onAbort(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener("abort", act, { once: true });
}
