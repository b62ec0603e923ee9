// region follow
import { ConvokeClient } from "@convoke/client";

const { URL: baseUrl = "", KEY: apiKey = "", LLM_MODEL: model = "", LLM_API_KEY, LLM_BASE_URL } = process.env;
const client = new ConvokeClient({ baseUrl, apiKey });

const { id } = await client.startConversation({
  agent: {
    llm: { model, api_key: LLM_API_KEY ?? null, base_url: LLM_BASE_URL ?? null },
    tools: [{ name: "terminal" }],
  },
  workspace: { working_dir: "follow" },
  initial_message: { content: [{ type: "text", text: "Say something from a shell command." }] },
});

const stop = new AbortController();
for await (const item of client.follow(id, { afterEventId: null, signal: stop.signal })) {
  if (item.type === "signal") continue; // shown live, stored nowhere
  const { event } = item;
  if (event.kind === "ActionEvent") console.log("action     ", event.tool_name);
  if (event.kind === "ObservationEvent") console.log("observation", event.tool_name);
  if (event.kind === "ConversationStateUpdateEvent" && event.key === "execution_status") {
    console.log("status     ", event.value);
    if (event.value !== "running") stop.abort();
  }
}
// endregion follow
