import type { ConvokeClient } from "../convoke-client.ts";
import { isOtherAgent } from "./acp-models.ts";
import type { Command } from "./slash-commands.ts";

/** The result of a command besides its events: a conversation to open, or an answer to show. */
export type CommandResult = { readonly goTo?: string; readonly answer?: string };

/**
 * Runs a slash command; rejects with a message for the user. `needed`: messages for missing arguments, by command.
 */
export async function actOnCommand(
  client: ConvokeClient,
  id: string,
  { name, text }: Command,
  needed: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  const params = { conversation_id: id };
  const given = (): string => {
    if (text === "") throw new Error(needed[name]);
    return text;
  };
  switch (name) {
    case "stop":
      await client.interrupt(id);
      return {};
    case "pause":
      await client.pause(id);
      return {};
    case "go":
      await client.run(id);
      return {};
    case "condense":
      await client.call("POST /api/conversations/{conversation_id}/condense", { params });
      return {};
    case "fork": {
      const copy = await client.call("POST /api/conversations/{conversation_id}/fork", { params, body: {} });
      return { goTo: copy.id };
    }
    case "goal":
      await client.call("POST /api/conversations/{conversation_id}/goal", {
        params,
        body: { objective: given() },
      });
      return {};
    case "ask": {
      const body = { question: given() };
      const route = "POST /api/conversations/{conversation_id}/ask_agent";
      const { response } = await client.call(route, { params, body, timeoutMs: askTimeoutMs });
      return { answer: response };
    }
    case "model": {
      const model = given();
      if (isOtherAgent(await client.getConversation(id)))
        await client.call("POST /api/conversations/{conversation_id}/switch_acp_model", {
          params,
          body: { model },
          timeoutMs: switchTimeoutMs,
        });
      else
        await client.call("POST /api/conversations/{conversation_id}/switch_profile", {
          params,
          body: { profile_name: model },
        });
      return {};
    }
    case "limit": {
      const dollars = Number(given().replace(/^\$/u, "").replace(",", "."));
      if (!Number.isFinite(dollars) || dollars <= 0) throw new Error(needed[name]);
      await client.call("POST /api/conversations/{conversation_id}/limits", {
        params,
        body: { max_budget_per_task: dollars },
      });
      return {};
    }
  }
}

/** Another agent is asked, and may have to be started. */
const switchTimeoutMs = 120_000;

/** Timeout of a side question; a model may take long to answer. */
const askTimeoutMs = 180_000;
