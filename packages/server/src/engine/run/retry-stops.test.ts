import type { Event } from "@convoke/protocol";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";
import { until } from "../../testing/until.ts";

function retries(events: readonly Event[]): unknown[] {
  return events.flatMap((event) =>
    event.kind === "ConversationStateUpdateEvent" && event.key === "model_retry" ? [event.value] : [],
  );
}

/** A conversation whose model waits to be asked again. */
async function startWaiting(server: TestServer): Promise<string> {
  const { agent } = server.startRequest();
  const llm = { ...agent.llm, num_retries: 5, retry_min_wait: 60, retry_max_wait: 60 };
  const { id } = await server.createConversation({ text: "go", agent: { ...agent, llm } });
  await until(async () => retries(await server.events(id)).length === 1);
  return id;
}

const script = { turns: [{ error: { status: 503 }, attempts: 1, text: "At last." }] };

test.each([
  ["pause", (server: TestServer, id: string) => server.call("POST", `/api/conversations/${id}/pause`)],
  [
    "interrupt",
    (server: TestServer, id: string) => server.call("POST", `/api/conversations/${id}/interrupt`),
  ],
  ["stop", (server: TestServer, id: string) => server.call("POST", `/api/conversations/${id}/stop`)],
] as const)(
  "P43, F9, F10: %s during the wait for a retry ends it: nothing is asked, and no wait is shown",
  async (_name, halt) => {
    await using server = await startTestServer({ script });
    const id = await startWaiting(server);
    expect((await halt(server, id)).status).toBe(200);
    expect(retries(await server.events(id)).at(-1)).toBeNull();
    await server.waitForStatus(id, "paused");
    expect(server.model.requests).toHaveLength(1);
    await server.client.run(id);
    await server.waitForStatus(id, "finished");
    expect(server.model.requests).toHaveLength(2);
    expect(retries(await server.events(id))).toHaveLength(2);
  },
);

test("F10: a wait that a crash cut off is over with the answer of the run that goes on", async () => {
  await using server = await startTestServer({ script });
  const id = await startWaiting(server);
  await server.restart();
  await server.waitForStatus(id, "finished");
  const shown = retries(await server.events(id));
  expect(shown.at(-1)).toBeNull();
  expect(shown).toHaveLength(2);
});
