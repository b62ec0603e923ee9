// A tool that this program carries out: the agent calls it, waits for the result and reads it.
import { ConvokeClient, serveClientTools } from "@convoke/client";

const { URL: baseUrl = "", KEY: apiKey = "", LLM_MODEL: model = "", LLM_API_KEY, LLM_BASE_URL } = process.env;
const client = new ConvokeClient({ baseUrl, apiKey });

// region create
const { id } = await client.startConversation({
  agent: { llm: { model, api_key: LLM_API_KEY ?? null, base_url: LLM_BASE_URL ?? null }, tools: [] },
  workspace: { working_dir: "client-tool-result" },
  client_tools: [
    {
      name: "get_weather",
      description: "Reports the weather in a city.",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      waits_for_result: true,
      timeout_seconds: 60,
    },
  ],
  initial_message: { content: [{ type: "text", text: "Do I need a coat in Kiel?" }] },
});
// endregion create

// region serve
const stop = new AbortController();
const serving = serveClientTools(client, id, {
  signal: stop.signal,
  tools: {
    get_weather: ({ city }) => {
      console.log("asked for", city);
      return "9 degrees and rain";
    },
  },
});
// endregion serve

for await (const item of client.follow(id, { afterEventId: null, signal: stop.signal })) {
  if (item.type === "signal") continue;
  const { event } = item;
  if (event.kind === "ObservationEvent") console.log("stored   ", event.observation.kind);
  if (event.kind === "ConversationStateUpdateEvent" && event.key === "execution_status") {
    if (event.value !== "running") stop.abort();
  }
}
await serving;
