import { randomUUID } from "node:crypto";
import type { SettingsUsed, StartConversationRequest } from "@convoke/protocol";
import type { ConversationDirectory } from "../../../directory/conversation-directory.ts";
import type { Conversation } from "../../../engine/conversation.ts";
import { withWarnings, type ConversationConfig } from "../../../engine/conversation-config.ts";
import type { SendInput } from "../../../engine/conversation-deps.ts";
import type { ConversationInfoSource } from "../../../engine/state/conversation-info.ts";
import type { Warning } from "../../../events/warning.ts";
import { Fault, invalidField } from "../../../lib/fault.ts";
import { normalizeUuid } from "../../../lib/uuid7.ts";
import { withoutUndefined } from "../../../lib/without-undefined.ts";
import type { Caller } from "../../../security/caller.ts";
import type { ProfileHistory } from "../../../settings/profile-history.ts";
import type { PluginAccess } from "../extensions/open-plugin.ts";
import { withPlugins } from "../extensions/with-plugins.ts";
import { pinUsed } from "./pin-used.ts";
import { readStartRequest, type Start } from "./start-request.ts";

export type ConversationStarterDeps = {
  readonly directory: ConversationDirectory;
  /** The access by which plugins are read; without it plugins are refused. */
  readonly plugins?: PluginAccess | undefined;
  readonly profileHistory: Pick<ProfileHistory, "pin">;
};

export type StartContext = {
  /** The client knows newer kinds of events. */
  readonly isNewer: boolean;
  /** The version of the settings that the request was completed from. */
  readonly settingsVersion: number | undefined;
  /** The stored profiles that it was completed from. */
  readonly settingsUsed: SettingsUsed | undefined;
  /** How many agents started each other up to this conversation. */
  readonly startDepth: number;
  /** About the request, for the conversation's log. */
  readonly warnings: readonly Warning[];
};

/** Null for a conversation that exists. */
export type StartedConversation = { readonly id: string; readonly created: ConversationInfoSource | null };

export type StartConversation = (
  caller: Caller,
  given: StartConversationRequest,
  context: StartContext,
) => Promise<StartedConversation>;

/** Creates conversations of complete and checked requests. A known id starts nothing. */
export function conversationStarter({
  directory,
  plugins,
  profileHistory,
}: ConversationStarterDeps): StartConversation {
  /** For a conversation that exists already and has no message yet. */
  async function sendFirst(conversation: Conversation, message: SendInput): Promise<void> {
    try {
      await conversation.send(message);
    } catch (error) {
      // Another request created the conversation with another first message at the same time, and won.
      if (!(error instanceof Fault && error.code === "client_message_id_reused")) throw error;
    }
  }

  /** A known id returns that conversation, whatever its plugins are now. */
  async function isKnown(
    caller: Caller,
    { conversation_id: id }: StartConversationRequest,
  ): Promise<boolean> {
    const known = id ? normalizeUuid(id) : null;
    return known !== null && (await directory.describe(caller, known)) !== null;
  }

  /** Parent and child must share a folder: the parent's work is not in another one. */
  async function parentOf(
    caller: Caller,
    id: string,
    { parentId, config }: Pick<Start, "parentId" | "config">,
  ): Promise<Pick<ConversationConfig, "parent">> {
    if (parentId === null) return {};
    const loc = ["body", "parent_conversation_id"];
    const parent = parentId === id ? null : await directory.describe(caller, parentId);
    if (parent === null)
      throw invalidField(
        loc,
        "There is no other conversation with this id. Name one of yours, or leave this out.",
      );
    if (parent.config.workspace.working_dir !== config.workspace.working_dir)
      throw invalidField(
        loc,
        "The conversation that this one belongs to works in another folder. Name the same one.",
      );
    return { parent: { conversation_id: parentId } };
  }

  return async (
    caller,
    given,
    { isNewer, settingsVersion: version, settingsUsed: used, startDepth, warnings: ownWarnings },
  ) => {
    const { body, warnings, joined } =
      (given.plugins ?? []).length > 0 && (await isKnown(caller, given))
        ? { body: { ...given, plugins: null }, warnings: [], joined: [] }
        : await withPlugins(given, plugins ?? null, caller.userId);
    const start = readStartRequest(body, isNewer);
    const { initial_message: first } = body;
    const id = start.conversationId ?? randomUUID();
    const below = await parentOf(caller, id, start);
    const config = {
      ...start.config,
      ...below,
      ...(joined.length === 0 ? {} : { joined_plugins: joined }),
      ...withWarnings(start.config, [...warnings, ...ownWarnings]),
      ...withoutUndefined({ settings_version: version, settings_used: used }),
      ...(startDepth === 0 ? {} : { start_depth: startDepth }),
    };
    const message = firstMessage(start, first?.run !== false);
    // A conversation that is there already keeps what it names.
    if (used !== undefined && !(await isKnown(caller, given)))
      await pinUsed(profileHistory, caller.userId, id, used);
    const created = await directory.create(caller, { id, ...start, config }, message);
    if (created === null && message !== null && (await directory.describe(caller, id))?.state.lastSeq === 0)
      await sendFirst(await directory.open(caller, id), message);
    return { id, created };
  };
}

/** The same key on every retry: however often a create is repeated, the message is sent exactly once. */
function firstMessage(
  { initialMessage: message, initialSchema: responseSchema }: Start,
  wantsRun: boolean,
): SendInput | null {
  const clientMessageId = "convoke:initial-message";
  return message === null ? null : { message, wantsRun, responseSchema, clientMessageId };
}
