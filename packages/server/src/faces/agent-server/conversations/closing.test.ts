import { expect, test } from "vitest";
import type { Script } from "../../../testing/scripted-model/script.ts";
import { startTestServer } from "../../../testing/start-server.ts";
import { until } from "../../../testing/until.ts";

/** The provider asks for five minutes, again and again. */
const script: Script = {
  turns: [
    { match: { last_user_contains: "Look" }, text: "Looked." },
    { error: { status: 429, retry_after: "300" } },
  ],
  loop: true,
};

test("P35, P61: a closing server does not wait for retries of model calls", async () => {
  const server = await startTestServer({ script });
  const { agent, ...start } = server.startRequest();
  const patient = { ...agent, llm: { ...agent?.llm, num_retries: 1000 } };
  const { id } = await server.createConversation({ agent: patient });
  await server.client.sendMessage(id, { content: [{ type: "text", text: "Look around." }], run: true });
  await server.waitForStatus(id, "finished");
  const { id: running } = await server.createConversation({ ...start, agent: patient });
  const asked = server.model.requests.length;
  const calls = [
    server.call("POST", `/api/conversations/${id}/ask_agent`, { question: "What did you do?" }),
    server.call("POST", `/api/conversations/${id}/generate_title`, {}),
    server.call("POST", `/api/conversations/${running}/events`, { content: "Wait.", run: true }),
  ].map((call) =>
    call.then(
      ({ status }) => status,
      () => "cut off",
    ),
  );
  await until(() => server.model.requests.length >= asked + 3);
  const startedMs = performance.now();
  await server[Symbol.asyncDispose]();
  expect(performance.now() - startedMs).toBeLessThan(60_000);
  expect(await Promise.all(calls)).toEqual([expect.anything(), expect.anything(), 200]);
});
