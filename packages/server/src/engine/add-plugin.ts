import { environmentMessage } from "../agent/receive.ts";
import { stateUpdate } from "../events/state-update.ts";
import { warning, type Warning } from "../events/warning.ts";
import { Fault } from "../lib/fault.ts";
import type { ConversationConfig, ConversationSecrets } from "./conversation-config.ts";
import type { ConversationParts } from "./conversation-parts.ts";
import type { ConversationState } from "./state/conversation-state.ts";

/** What a plugin changes in a conversation. */
export type PluginChange = {
  readonly config: Partial<ConversationConfig>;
  readonly secrets: ConversationSecrets;
  /** What the model has to know that has read its system prompt already; null for nothing. */
  readonly note: string | null;
  readonly warnings: readonly Warning[];
};

/** Throws a `Fault` for a plugin that cannot join. */
export type ToPluginChange = (config: ConversationConfig, secrets: ConversationSecrets) => PluginChange;

type Deps = Pick<
  ConversationParts,
  "configuration" | "goals" | "hooks" | "log" | "openHooks" | "queue" | "runner" | "session"
>;

/** Fields whose values clients know by these names. */
const shownFields = ["agent", "agent_definitions", "hook_config"] as const;

/**
 * One commit adds what a plugin brings; from then on hooks run, and the tools are opened again with its skills, servers and sub-agents.
 * Fails while a run is in progress or an action waits for an answer (409): both have begun with what the conversation had.
 */
export async function addPlugin(toChange: ToPluginChange, deps: Deps): Promise<void> {
  const { configuration, goals, hooks, log, openHooks, queue, runner, session } = deps;
  refuseWhileWorking(log.state, runner.isWorking || goals.isBusy);
  // A run without further work ends immediately.
  await runner.ended();
  await queue.post(async () => {
    refuseWhileWorking(log.state, runner.isAlive);
    const { config, secrets, note, warnings } = toChange(configuration.config, configuration.secrets);
    const updates = shownFields.flatMap((field) =>
      config[field] === undefined ? [] : [stateUpdate(field, config[field])],
    );
    const notes = note === null || log.state.systemPromptSeq === null ? [] : [environmentMessage(note)];
    await configuration.changeAll(config, secrets, [
      ...updates,
      stateUpdate("plugins", config.joined_plugins ?? []),
      ...warnings.map(warning),
      ...notes,
    ]);
    hooks.replace(openHooks());
    session.renew();
  });
}

function refuseWhileWorking(state: ConversationState, isWorking: boolean): void {
  if (state.status === "running" || isWorking || state.openActions.length > 0)
    throw new Fault(
      "conflict",
      "already_running",
      "The agent works, or an action waits for an answer. Wait until its turn ends, or interrupt it, before you add a plugin.",
    );
}
