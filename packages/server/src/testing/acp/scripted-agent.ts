import { randomUUID } from "node:crypto";
import {
  agent,
  RequestError,
  type AgentApp,
  type AgentContext,
  type PermissionOption,
  type SessionConfigOption,
  type SessionUpdate,
  type StopReason,
} from "@agentclientprotocol/sdk";
import type { AgentScript, AgentStep } from "./agent-script.ts";

const options: readonly PermissionOption[] = [
  { optionId: "yes", name: "Allow once", kind: "allow_once" },
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
];

/** What a scripted agent was asked, in order; `exit` ends it. */
export type AgentHost = { readonly calls: unknown[]; readonly exit: (code: number) => void };

/** An agent that plays a script, to test our side of the protocol with. */
export function createScriptedAgent(script: AgentScript, host: AgentHost): AgentApp {
  const { models = [], prompts = [], trouble } = script;
  let model = models[0] ?? "";
  let next = 0;
  let cancel = Promise.withResolvers<void>();
  const described = () =>
    models.length === 0
      ? {}
      : script.modelsBy === "set_model"
        ? {
            models: {
              currentModelId: model,
              availableModels: models.map((modelId) => ({ modelId, name: modelId.toUpperCase() })),
            },
          }
        : { configOptions: [modelOption(model, models)] };
  const note = (method: string, params: unknown): void => void host.calls.push({ method, params });
  const never = new Promise<never>(() => {});

  return agent({ name: "scripted" })
    .onRequest("initialize", async ({ params }) => {
      note("initialize", params);
      if (trouble === "hangs") return await never;
      if (trouble === "exits") host.exit(3);
      return {
        protocolVersion: trouble === "old protocol" ? 0 : 1,
        agentInfo: { name: "scripted", title: "Scripted", version: "1.2.3" },
        authMethods: [{ id: "key", name: "An API key" }],
        agentCapabilities: {
          loadSession: script.canLoad === true,
          promptCapabilities: { image: script.takesImages === true },
          mcpCapabilities: { http: true },
          sessionCapabilities: script.canResume === true ? { resume: {} } : {},
        },
      };
    })
    .onRequest("session/new", ({ params }) => {
      note("session/new", params);
      if (trouble === "login") throw new RequestError(-32_000, "Authentication required");
      if (trouble === "refuses sessions")
        throw new RequestError(-32_603, "Internal error", { details: "no room" });
      return { sessionId: `session-${randomUUID()}`, ...described() };
    })
    .onRequest("session/load", async ({ params, client }) => {
      note("session/load", params);
      await notify(client, params.sessionId, message("said before"));
      return described();
    })
    .onRequest("session/resume", ({ params }) => {
      note("session/resume", params);
      return described();
    })
    .onRequest("session/set_mode", ({ params }) => {
      note("session/set_mode", params);
      return {};
    })
    .onRequest("session/set_config_option", ({ params }) => {
      note("session/set_config_option", params);
      model = String(params.value);
      return { configOptions: [modelOption(model, models)] };
    })
    .onRequest(
      "session/set_model",
      (params) => params as { modelId: string },
      ({ params }) => {
        note("session/set_model", params);
        model = params.modelId;
        return {};
      },
    )
    .onNotification("session/cancel", ({ params }) => {
      note("session/cancel", params);
      cancel.resolve();
    })
    .onRequest("session/prompt", async ({ params: { prompt, sessionId }, client }) => {
      note("session/prompt", prompt);
      cancel = Promise.withResolvers();
      const text = prompt.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
      const steps = prompts[next] ?? [{ say: text }];
      next += 1;
      let end: { stopReason: StopReason; usage?: object } = { stopReason: "end_turn" };
      for (const step of steps) {
        if ("end" in step) end = { stopReason: step.end, ...(step.usage ? { usage: step.usage } : {}) };
        else if ("exit" in step) {
          host.exit(step.exit);
          await never;
        } else if ("hang" in step) {
          await (step.hang === "deaf" ? never : cancel.promise);
          return { stopReason: "cancelled" as const };
        } else if (await play(step, client, sessionId)) return { stopReason: "cancelled" as const };
      }
      return end;
    });
}

type Played = Exclude<AgentStep, { end: unknown } | { exit: unknown } | { hang: unknown }>;

/** True where the client has cancelled the prompt. */
async function play(step: Played, client: AgentContext, sessionId: string): Promise<boolean> {
  const say = (text: string): Promise<void> => notify(client, sessionId, message(text));
  if ("say" in step) await notify(client, sessionId, message(step.say, step.messageId));
  else if ("think" in step)
    await notify(client, sessionId, {
      sessionUpdate: "agent_thought_chunk",
      content: { type: "text", text: step.think },
    });
  else if ("update" in step) await notify(client, sessionId, step.update);
  else if ("plan" in step)
    await notify(client, sessionId, { sessionUpdate: "plan", entries: [...step.plan] });
  else if ("fail" in step) throw new RequestError(-32_603, "Internal error", { details: step.fail });
  else if ("write" in step) await client.request("fs/write_text_file", { sessionId, ...step.write });
  else if ("read" in step)
    await say((await client.request("fs/read_text_file", { sessionId, path: step.read })).content);
  else if ("run" in step) {
    await using terminal = await client.createTerminal({ sessionId, command: step.run });
    const { exitCode } = await terminal.waitForExit();
    const { output } = await terminal.currentOutput();
    await say(`${exitCode}: ${output}`);
  } else {
    const { id: toolCallId, kind: given, ...call } = step.ask;
    const kind = given as "execute";
    await notify(client, sessionId, {
      sessionUpdate: "tool_call",
      toolCallId,
      kind,
      ...call,
      status: "pending",
    });
    const { outcome } = await client.request("session/request_permission", {
      sessionId,
      toolCall: { toolCallId },
      options: [...(step.options ?? options)],
    });
    const isAllowed = outcome.outcome === "selected" && outcome.optionId !== "no";
    await notify(client, sessionId, {
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: isAllowed ? "completed" : "failed",
      rawOutput: outcome,
    });
    return outcome.outcome === "cancelled";
  }
  return false;
}

async function notify(client: AgentContext, sessionId: string, update: SessionUpdate): Promise<void> {
  await client.notify("session/update", { sessionId, update });
}

function message(text: string, messageId?: string): SessionUpdate {
  return {
    sessionUpdate: "agent_message_chunk",
    content: { type: "text", text },
    ...(messageId === undefined ? {} : { messageId }),
  };
}

function modelOption(currentValue: string, models: readonly string[]): SessionConfigOption {
  return {
    id: "the-model",
    name: "Model",
    category: "model",
    type: "select",
    currentValue,
    options: models.map((value) => ({ value, name: value.toUpperCase() })),
  };
}
