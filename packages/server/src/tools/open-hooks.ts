import { hasHooks, parseHooks } from "../extensions/hooks/hook-config.ts";
import { HookRunner, type HookPlace, type HookRecord } from "../extensions/hooks/hook-runner.ts";
import type { EventDraft } from "../events/event-draft.ts";
import type { Model } from "../models/model.ts";
import type { ConversationConfig } from "../engine/conversation-config.ts";
import { stateUpdate } from "../events/state-update.ts";
import { HookGate, type HookSurroundings } from "../engine/hook-gate.ts";
import { lastPart, wordsOf } from "../agent/side-question.ts";

export type OpenHooksDeps = HookSurroundings & {
  readonly conversationId: string;
  readonly workingDir: string;
  readonly place: Pick<HookPlace, "openHost" | "beforeStart">;
};

/** The hooks of a conversation; null when it has none, and then nothing about hooks ever appears in its log. */
export function openHooks(config: ConversationConfig, deps: OpenHooksDeps): HookGate | null {
  const parsed = parseHooks(config.hook_config ?? {}, "stored");
  if (!parsed.ok || !hasHooks(parsed.settings)) return null;
  const toDraft = config.knows_newer_kinds === true ? asItsOwnKind : asStateUpdate;
  const runner = new HookRunner({
    settings: parsed.settings,
    sessionId: deps.conversationId,
    workingDir: deps.workingDir,
    place: {
      ...deps.place,
      ask: (question, signal) => askOnce(deps.openModel(), question, signal),
      asyncEnded: (record) => deps.notify(toDraft(record)),
    },
    lost: deps.lost,
  });
  return new HookGate(runner, { notify: (draft) => deps.notify(draft), toDraft });
}

function asItsOwnKind(record: HookRecord): EventDraft {
  return { body: record };
}

/** In the contract's kinds: what newer clients read as an event is the value of a state update. */
function asStateUpdate(record: HookRecord): EventDraft {
  const own = Object.entries(record).filter(([name]) => name !== "kind" && name !== "source");
  return stateUpdate("hook_execution", Object.fromEntries(own));
}

async function askOnce(model: Model, question: string, signal: AbortSignal): Promise<string> {
  const request = {
    messages: [{ role: "user" as const, content: [{ type: "text" as const, text: question }] }],
    tools: [],
    cacheKey: "hook",
  };
  const last = await lastPart(model.stream(request, signal));
  if (last.type === "done") return wordsOf(last.response);
  throw new Error(last.type === "failed" ? last.error.detail : "The model was not asked to the end.");
}
