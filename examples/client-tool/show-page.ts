// A tool that this program carries out itself: the agent calls it, and whoever follows the conversation acts on the call.
import { ConvokeClient } from "@convoke/client";

const { URL: baseUrl = "", KEY: apiKey = "", LLM_MODEL: model = "", LLM_API_KEY, LLM_BASE_URL } = process.env;
const client = new ConvokeClient({ baseUrl, apiKey });

// region create
const { id } = await client.startConversation({
  agent: { llm: { model, api_key: LLM_API_KEY ?? null, base_url: LLM_BASE_URL ?? null }, tools: [] },
  workspace: { working_dir: "client-tool" },
  client_tools: [
    {
      name: "show_page",
      description: "Shows a page of the shop to the person.",
      parameters: { type: "object", properties: { page: { type: "string" } }, required: ["page"] },
    },
  ],
  initial_message: { content: [{ type: "text", text: "Show me the prices." }] },
});
// endregion create

// region act
const stop = new AbortController();
for await (const item of client.follow(id, { afterEventId: null, signal: stop.signal })) {
  if (item.type === "signal") continue;
  const { event } = item;
  if (event.kind === "ActionEvent" && event.tool_name === "show_page") {
    const { page } = JSON.parse(event.tool_call.arguments) as { page: string };
    console.log("showing", page);
  }
  if (event.kind === "ObservationEvent") console.log("told   ", event.observation.kind);
  if (event.kind === "ConversationStateUpdateEvent" && event.key === "execution_status") {
    if (event.value !== "running") stop.abort();
  }
}
// endregion act
