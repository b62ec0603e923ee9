import type {
  AgentContext,
  ContentBlock,
  LoadSessionResponse,
  SessionConfigOption,
  SessionUpdate,
  StopReason,
} from "@agentclientprotocol/sdk";
import type { ConvokeClient } from "@convoke/client";
import { askingOf, modes, type ModeId } from "./mapping.ts";
import { readCommand, toMessageContent } from "./prompt-content.ts";
import { invalidParams } from "./session-errors.ts";
import { commandsOf, configOptionsOf, isOwnModel, modelOption, modesOf } from "./session-options.ts";
import { SessionUpdates } from "./session-updates.ts";
import { toStartRequest, type SessionStart } from "./start-session.ts";
import { Turn } from "./turn.ts";

export type SessionDeps = {
  readonly client: ConvokeClient;
  readonly editor: Pick<AgentContext, "request" | "notify">;
  /** That of the conversation. */
  readonly id: string;
  readonly cwd: string;
};

/** One conversation that an editor has open: a place in its log, and the turn that is going on. */
export class Session {
  readonly #deps: SessionDeps;
  #cursor: string | null = null;
  #turn: Turn | null = null;
  /** How it was begun, until the first prompt: only until then an agent can be made to plan, or not to. */
  #start: SessionStart | null;

  constructor(deps: SessionDeps, start: SessionStart | null = null) {
    this.#deps = deps;
    this.#start = start;
  }

  /** Modes and options, as each way into a session answers them. */
  async describe(): Promise<LoadSessionResponse> {
    const { client, id } = this.#deps;
    const info = await client.getConversation(id);
    return { modes: modesOf(info), configOptions: await configOptionsOf(client, info) };
  }

  /** Tells the editor of everything from the last event that it knows to the end of the log. */
  async catchUp(): Promise<void> {
    const { client, id, cwd } = this.#deps;
    const updates = new SessionUpdates(cwd);
    const known = this.#cursor;
    for await (const event of client.events(id, known === null ? {} : { page_id: known })) {
      if (event.id === known) continue;
      await this.#send(updates.of({ type: "event", event, json: "", trimmed: null }));
      this.#cursor = event.id!;
    }
  }

  /** Goes on from the end of the log; the editor knows what came before. */
  async skipToEnd(): Promise<void> {
    this.#cursor = (await this.#deps.client.tail(this.#deps.id, { limit: 1 })).lastEventId;
  }

  async sendCommands(): Promise<void> {
    const { client, cwd } = this.#deps;
    const availableCommands = await commandsOf(client, cwd);
    await this.#send([{ sessionUpdate: "available_commands_update", availableCommands }]);
  }

  async prompt(prompt: readonly ContentBlock[]): Promise<StopReason> {
    if (this.#turn !== null)
      throw invalidParams("The session is busy with a prompt. Wait for its end, or send session/cancel.");
    const { client, editor, id: sessionId, cwd } = this.#deps;
    const command = readCommand(prompt);
    if (command?.name === "condense") {
      await client.call("POST /api/conversations/{conversation_id}/condense", of(sessionId));
      await this.catchUp();
      return "end_turn";
    }
    const isApproving = command?.name === "approve";
    const content = isApproving ? [] : toMessageContent(prompt);
    const begin = async (): Promise<string | null> => {
      this.#start = null;
      if (!isApproving) return await client.sendMessage(sessionId, { role: "user", content, run: true });
      await client.approvePlan(sessionId, command.text || undefined);
      return null;
    };
    const turn = new Turn({ client, editor, sessionId, cwd, cursor: this.#cursor, begin });
    this.#turn = turn;
    try {
      const reason = await turn.run();
      if (isApproving) await this.#sendMode();
      return reason;
    } finally {
      this.#cursor = turn.cursor;
      this.#turn = null;
    }
  }

  async cancel(): Promise<void> {
    await this.#turn?.cancel();
  }

  leave(): void {
    this.#turn?.leave();
  }

  async setMode(wanted: string): Promise<void> {
    const { client, id } = this.#deps;
    const mode = modes.find((one) => one.id === wanted)?.id;
    if (mode === undefined)
      throw invalidParams(`modeId must be one of ${modes.map((one) => one.id).join(", ")}, not ${wanted}.`);
    const current = modesOf(await client.getConversation(id)).currentModeId;
    if ((mode === "plan") !== (current === "plan")) await this.#beginAgain(mode);
    const { policy, analyzer } = askingOf(mode);
    await client.setSecurityAnalyzer(id, analyzer);
    await client.setConfirmationPolicy(id, policy);
    await this.#send([{ sessionUpdate: "current_mode_update", currentModeId: mode }]);
  }

  async setOption(configId: string, value: unknown): Promise<SessionConfigOption[]> {
    const { client, id } = this.#deps;
    if (configId !== modelOption) throw invalidParams(`configId must be ${modelOption}, not ${configId}.`);
    if (typeof value !== "string") throw invalidParams("value must be one of the option's values.");
    const info = await client.getConversation(id);
    if (isOwnModel(value, info)) return await configOptionsOf(client, info);
    await client.call("POST /api/conversations/{conversation_id}/switch_profile", {
      ...of(id),
      body: { profile_name: value },
    });
    const configOptions = await configOptionsOf(client, await client.getConversation(id));
    await this.#send([{ sessionUpdate: "config_option_update", configOptions }]);
    return configOptions;
  }

  /** An agent plans from its first message on, or not at all: before that the conversation can be created again. */
  async #beginAgain(mode: ModeId): Promise<void> {
    const { client, id } = this.#deps;
    if (this.#start === null)
      throw invalidParams(
        mode === "plan"
          ? "An agent can only plan from its first message on. Start a new session, and choose plan before the first prompt."
          : "The agent plans until its plan is approved. Send /approve to have it carried out.",
      );
    const start = { ...this.#start, mode };
    await client.deleteConversation(id);
    await client.startConversation(toStartRequest(start));
    [this.#start, this.#cursor] = [start, null];
  }

  async #sendMode(): Promise<void> {
    const { client, id } = this.#deps;
    const { currentModeId } = modesOf(await client.getConversation(id));
    await this.#send([{ sessionUpdate: "current_mode_update", currentModeId }]);
  }

  async #send(updates: readonly SessionUpdate[]): Promise<void> {
    const { editor, id: sessionId } = this.#deps;
    for (const update of updates) await editor.notify("session/update", { sessionId, update });
  }
}

function of(id: string): { readonly params: { readonly conversation_id: string } } {
  return { params: { conversation_id: id } };
}
