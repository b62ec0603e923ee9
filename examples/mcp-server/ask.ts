import { fileURLToPath } from "node:url";
import { ConvokeClient } from "@convoke/client";

const { URL: baseUrl = "", KEY: apiKey = "", LLM_MODEL: model = "", LLM_API_KEY, LLM_BASE_URL } = process.env;
const client = new ConvokeClient({ baseUrl, apiKey });

const { id } = await client.startConversation({
  agent: {
    llm: { model, api_key: LLM_API_KEY ?? null, base_url: LLM_BASE_URL ?? null },
    tools: [],
    mcp_config: {
      shop: { command: process.execPath, args: [fileURLToPath(new URL("server.mjs", import.meta.url))] },
    },
  },
  workspace: { working_dir: "shop" },
  initial_message: { content: [{ type: "text", text: "How many chains do we have?" }] },
});

const stop = new AbortController();
for await (const item of client.follow(id, { afterEventId: null, signal: stop.signal })) {
  if (item.type === "signal") continue;
  const { event } = item;
  if (event.kind === "ActionEvent") console.log("calls   ", event.tool_name, event.tool_call.arguments);
  if (event.kind === "ObservationEvent") console.log("observes", event.observation.kind, event.tool_name);
  if (event.kind === "ConversationErrorEvent") console.log("error   ", event.code, event.detail);
  if (event.kind === "ConversationStateUpdateEvent" && event.key === "execution_status") {
    console.log("status  ", event.value);
    if (event.value !== "running") stop.abort();
  }
}
