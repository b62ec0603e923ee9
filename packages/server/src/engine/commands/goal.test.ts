import { expect, test } from "vitest";
import { readVerdict } from "../../agent/judge-goal.ts";
import { startTestServer, type TestServer } from "../../testing/start-server.ts";

const judged = { match: { last_user_contains: "Is this objective reached" } };
const verdict = (complete: boolean, missing: string) => ({
  ...judged,
  text: `My verdict: {"score": ${complete ? 1 : 0.4}, "complete": ${complete}, "missing": "${missing}"}`,
});

type Update = { status: string; iteration: number; active: boolean; verdict: { missing: string } | null };

async function goals(server: TestServer, id: string): Promise<Update[]> {
  const log = await server.events(id);
  return log.flatMap((event) =>
    event.kind === "ConversationStateUpdateEvent" && event.key === "goal" ? [event.value as Update] : [],
  );
}

async function ended(server: TestServer, id: string): Promise<Update[]> {
  for (;;) {
    const all = await goals(server, id);
    if (all.at(-1)?.active === false) return all;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("a goal is worked on again until its rounds are used up, with what the judge misses", async () => {
  const script = {
    turns: [
      verdict(false, "the tests"),
      { text: "Half of it is done." },
      { match: { last_user_contains: "not reached yet" }, text: "All of it is done." },
    ],
  };
  await using server = await startTestServer({ script });
  const { id } = await server.createConversation();
  const reply = await server.call("POST", `/api/conversations/${id}/goal`, {
    objective: "Mend it.",
    max_iterations: 3,
  });
  expect(reply.status, reply.text).toBe(200);
  const all = await ended(server, id);
  // Each round: the agent says that it is done, and the judge that it is not.
  expect(all.map(({ status, iteration }) => `${status} ${iteration}`)).toEqual([
    "running 1",
    "running 2",
    "running 3",
    "capped 3",
  ]);
  expect(all.at(-1)!.verdict!.missing).toBe("the tests");
  const log = await server.events(id);
  const asked = log.filter(({ kind, source }) => kind === "MessageEvent" && source === "environment");
  expect(JSON.stringify(asked)).toContain("Still missing: the tests");
  expect(JSON.stringify(log)).toContain("goal-judge-llm");
});

test("a goal that is reached ends; one that its user writes into is interrupted and can be resumed", async () => {
  const script = { turns: [verdict(true, ""), { text: "Done." }, { hang: true }, { text: "Done again." }] };
  await using server = await startTestServer({ script });
  const { id } = await server.createConversation();
  const path = `/api/conversations/${id}/goal`;
  expect((await server.call("POST", `${path}/resume`)).status).toBe(409);
  expect((await server.call("POST", `${path}/stop`)).status).toBe(200);
  expect((await server.call("POST", path, { objective: " " })).status).toBe(422);
  await server.call("POST", path, { objective: "First." });
  expect((await ended(server, id)).map(({ status }) => status)).toEqual(["running", "complete"]);
  // The second answer never comes.
  await server.call("POST", path, { objective: "Second." });
  expect((await server.call("POST", path, { objective: "Third." })).status).toBe(409);
  await server.client.sendMessage(id, { content: [{ type: "text", text: "Stop that." }], run: false });
  expect((await goals(server, id)).at(-1)).toMatchObject({ status: "interrupted", active: false });
  await server.call("POST", `/api/conversations/${id}/interrupt`);
  expect((await server.call("POST", `${path}/resume`)).status).toBe(200);
  expect((await goals(server, id)).at(-1)).toMatchObject({ status: "running", objective: "Second." });
  await server.call("POST", `/api/conversations/${id}/interrupt`);
  expect((await ended(server, id)).at(-1)!.status).toBe("interrupted");
});

test.each([
  ['{"score": 3, "complete": true, "missing": ""}', { score: 1, complete: true, missing: "" }],
  ['Well: {"complete": false}.', { score: 0, complete: false, missing: "" }],
  ["no", { score: 0, complete: false, missing: "The judge gave no verdict that can be read." }],
])("%s is a verdict", (answer, expected) => {
  expect(readVerdict(answer)).toEqual(expected);
});
