import type { ConvokeClient } from "@convoke/client";
import type { Command } from "../composer/slash-commands.ts";

/** What a command leads to, besides what the log tells: another conversation to go to, or an answer to show. */
export type CommandResult = { readonly goTo?: string; readonly answer?: string };

/** Carries out a command of the composer; rejects with a sentence for its user. `needed` says what is missing, by command. */
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
    case "model":
      await client.call("POST /api/conversations/{conversation_id}/switch_profile", {
        params,
        body: { profile_name: given() },
      });
      return {};
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

/** A model may think for long before it answers. */
const askTimeoutMs = 180_000;
