import { expect, test } from "vitest";
import type { AgentScript } from "../../testing/acp/agent-script.ts";
import { openMemoryAgent, type MemoryAgentOptions } from "../../testing/acp/memory-agent.ts";
import { storedEvents } from "../../testing/memory-conversation.ts";

/** The log in short: one line for each event. */
function told(opened: Awaited<ReturnType<typeof openMemoryAgent>>): string[] {
  return storedEvents(opened).map(({ event: given }) => {
    const event = given as unknown as Record<string, unknown> & { llm_message?: { content: { text?: string }[] } };
    const text = event.llm_message?.content.map((part) => part.text).join("");
    const facts = [event["key"], event["tool_name"], event["tool_call_id"], event["status"], event["code"], text];
    const value = typeof event["value"] === "string" ? event["value"] : "";
    return [event["kind"], ...facts, value].filter((fact) => fact !== undefined && fact !== "").join(" ");
  });
}

async function open(script: AgentScript, options: MemoryAgentOptions = {}) {
  return await openMemoryAgent(script, options);
}

test("a prompt is recorded, told and ends the run", async () => {
  await using opened = await open({
    prompts: [[{ think: "Hm. " }, { say: "Hel" }, { say: "lo" }, { end: "end_turn", usage: { inputTokens: 7, outputTokens: 2 } }]],
  });
  expect(await opened.run("hi")).toBe("finished");
  expect(told(opened)).toMatchInlineSnapshot(`
    [
      "SystemPromptEvent",
      "MessageEvent hi",
      "ConversationStateUpdateEvent last_user_message_id 018bcfe5-6803-77eb-9f04-28e5bf980ff5",
      "ConversationStateUpdateEvent execution_status running",
      "ConversationStateUpdateEvent acp_session",
      "ConversationStateUpdateEvent acp_prompt",
      "MessageEvent Hello",
      "ConversationStateUpdateEvent stats",
      "ConversationStateUpdateEvent acp_prompt",
      "ConversationStateUpdateEvent execution_status finished",
    ]
  `);
});
