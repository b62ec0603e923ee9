import type { AppConversation, AppConversationStartTask } from "@convoke/protocol";
import type { ConvokeProcess } from "./convoke-process.ts";
import type { ScriptedModelServer } from "./scripted-model/scripted-model.ts";

/** A client of the V1 API that waits. */
export type V1 = {
  /** Resolves with the task; rejects with the body of a refusal. */
  start(request: object): Promise<AppConversationStartTask & { readonly id: string }>;
  /** Resolves when the start has succeeded; rejects with its detail. */
  ready(taskId: string): Promise<AppConversationStartTask>;
  get(ids: readonly string[]): Promise<(AppConversation | null)[]>;
  untilStatus(id: string, status: string): Promise<AppConversation>;
};

const timeoutMs = 120_000;

/** Stores the scripted model in the settings of the key's user. */
export async function openV1(
  server: Pick<ConvokeProcess, "call">,
  model: ScriptedModelServer,
  settings: object = {},
): Promise<V1> {
  const route = {
    llm_model: "openai/scripted",
    llm_api_key: "scripted-llm-key",
    llm_base_url: `${model.url}/v1`,
  };
  await server.call("POST", "/api/settings", { ...route, ...settings });
  const prefix = "/api/v1/app-conversations";
  const get: V1["get"] = async (ids) => {
    const query = ids.map((id) => `ids=${id}`).join("&");
    return (await server.call("GET", `${prefix}?${query}`)).json as (AppConversation | null)[];
  };
  return {
    get,
    start: async (request) => {
      const { status, text, json } = await server.call("POST", prefix, request);
      if (status !== 200) throw new Error(`The start was refused with ${status}: ${text}`);
      return json as AppConversationStartTask & { id: string };
    },
    ready: async (taskId) => {
      let seen = "";
      return await patiently(
        async () => {
          const { json } = await server.call("GET", `${prefix}/start-tasks?ids=${taskId}`);
          const [task] = json as [AppConversationStartTask];
          if (task.status === "ERROR") throw new Error(`The start failed: ${task.detail}`);
          seen = `${task.status} ${task.detail}`;
          return task.status === "READY" ? task : null;
        },
        () => `the start, which is ${seen}`,
      );
    },
    untilStatus: async (id, status) =>
      await patiently(async () => {
        const [conversation] = await get([id]);
        return conversation?.execution_status === status ? conversation : null;
      }, `conversation ${id} to become ${status}`),
  };
}

async function patiently<Result>(
  poll: () => Promise<Result | null>,
  what: string | (() => string),
): Promise<Result> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const found = await poll();
    if (found !== null) return found;
    if (performance.now() > deadlineMs) {
      throw new Error(`Waited in vain for ${typeof what === "string" ? what : what()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
