import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { startStrictModel } from "../../testing/strict-models/start-strict-model.ts";
import { strictProviders } from "../../testing/strict-models/strict-providers.ts";

const odd = {
  name: "odd",
  description: "Takes an address.",
  parameters: {
    type: "object",
    properties: { email: { type: "string", pattern: "^(?!\\.)[^@]+$" } },
  },
};

async function details(server: TestServer, id: string): Promise<string[]> {
  const events: Event[] = await server.events(id);
  return events.flatMap((event) =>
    event.kind === "ConversationStateUpdateEvent" && event.key === "warning"
      ? [JSON.stringify(event.value)]
      : [],
  );
}

test("K3 P12: what the provider refuses is left out, told once in each conversation, and remembered through a restart", async () => {
  const provider = strictProviders.find(({ name }) => name === "llama-cpp")!;
  await using model = await startStrictModel(provider, { script: { turns: [{ text: "done" }], loop: true } });
  await using server = await startTestServer();
  const { agent } = server.startRequest();
  const start = { agent: { ...agent, llm: model.llm }, client_tools: [odd] };
  const more = async (id: string): Promise<void> => {
    await server.client.sendMessage(id, { content: [{ type: "text", text: "More." }], run: true });
    await server.waitForStatus(id, "finished");
  };

  const id = await server.runTo("finished", "Go.", start);
  await more(id);
  expect(model.refusals).toHaveLength(1);
  const once = [
    expect.stringMatching(
      /^\{"code":"model_request_adjusted","detail":"The provider of devstral-small-2 at 127\.0\.0\.1 refuses how the tool \\"odd\\"/u,
    ),
  ];
  expect(await details(server, id)).toEqual(once);

  await server.restart();
  await more(id);
  expect(model.refusals).toHaveLength(1);
  expect(await details(server, id)).toEqual(once);

  const other = await server.runTo("finished", "Go.", start);
  await more(other);
  expect(model.refusals).toHaveLength(1);
  expect(await details(server, other)).toHaveLength(1);
});
