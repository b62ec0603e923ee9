import { readFileSync } from "node:fs";
import { compileForeignSchema } from "@convoke/protocol/validate";
import { expect, test } from "vitest";
import { atifSchema } from "../../../testing/atif-schema.ts";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";

type Step = {
  readonly step_id: number;
  readonly source: string;
  readonly message: string;
  readonly tool_calls?: readonly { readonly tool_call_id: string; readonly arguments: object }[];
  readonly observation?: {
    readonly results: readonly { readonly source_call_id?: string; readonly content: string }[];
  };
  readonly metrics?: object;
};
type Trajectory = { readonly steps: readonly Step[]; readonly final_metrics: object; readonly extra: object };

const check = compileForeignSchema(atifSchema as Record<string, unknown>);

async function read(server: TestServer, id: string): Promise<Trajectory> {
  const reply = await server.call("GET", `/api/conversations/${id}/transcript?format=atif`);
  expect(reply.status, reply.text).toBe(200);
  const trajectory = JSON.parse(reply.text) as Trajectory;
  expect(check(trajectory), id).toEqual([]);
  expect(check({ ...trajectory, steps: [{ ...trajectory.steps[0], other: 1 }] })).not.toEqual([]);
  expect(trajectory.steps.map((step) => step.step_id)).toEqual(trajectory.steps.map((_, index) => index + 1));
  for (const { tool_calls: calls = [], observation } of trajectory.steps)
    for (const { source_call_id: callId } of observation?.results ?? [])
      if (callId !== undefined) expect(calls.map((call) => call.tool_call_id)).toContain(callId);
  return trajectory;
}

test("ATIF beside Markdown and JSONL: steps, calls, results and what they cost", async () => {
  const call = { name: "terminal", arguments: { command: "echo made" }, id: "call-1" };
  await using server = await startTestServer({
    script: {
      turns: [
        {
          text: "I make it.",
          tool_calls: [call],
          usage: { prompt_tokens: 100, completion_tokens: 20, cost: 0.25 },
        },
        {
          text: "It is made.",
          usage: { prompt_tokens: 130, completion_tokens: 5, cache_read_tokens: 90, cost: 0.5 },
        },
      ],
    },
  });
  const id = await server.runTo("finished", "Make it.", { title: "Made", tags: { a: "b" } });
  const { steps, final_metrics: totals, extra } = await read(server, id);
  expect(steps.map(({ source, message }) => [source, message]).slice(1)).toEqual([
    ["user", "Make it."],
    ["agent", "I make it."],
    ["agent", "It is made."],
  ]);
  expect(steps[0]).toMatchObject({ source: "system" });
  expect(steps[2]).toMatchObject({
    tool_calls: [{ tool_call_id: "call-1", function_name: "terminal", arguments: { command: "echo made" } }],
    observation: { results: [{ source_call_id: "call-1", content: expect.any(String) as string }] },
    metrics: { prompt_tokens: 100, completion_tokens: 20, cached_tokens: 0, cost_usd: 0.25 },
  });
  expect(steps[3]).toMatchObject({ metrics: { prompt_tokens: 130, cached_tokens: 90, cost_usd: 0.5 } });
  expect(totals).toEqual({
    total_prompt_tokens: 230,
    total_completion_tokens: 25,
    total_cached_tokens: 90,
    total_cost_usd: 0.75,
    total_steps: 4,
  });
  expect(extra).toEqual({ title: "Made", tags: { a: "b" } });
});

test("ATIF: conversations of every kind that the reference writes are trajectories, an empty one as well", async () => {
  await using server = await startTestServer({});
  const golden = new URL("../../../imports/golden/", import.meta.url);
  const form = new FormData();
  form.set("file", new File([readFileSync(new URL("openhands-1.58.2.tar.gz", golden))], "golden.tar.gz"));
  const reply = await fetch(`${server.url}/api/conversations/import`, {
    method: "POST",
    headers: { "X-Session-API-Key": server.key },
    body: form,
  });
  expect(reply.status).toBe(200);
  const ids = JSON.parse(readFileSync(new URL("openhands-1.58.2.json", golden), "utf8")) as Record<
    string,
    string
  >;
  const texts: Record<string, string> = {};
  for (const [name, id] of Object.entries(ids)) {
    const trajectory = await read(server, id);
    texts[name] = JSON.stringify(trajectory.steps);
  }
  expect(texts["empty"]).toContain("no messages yet");
  expect(texts["rejected"]).toContain("No, thank you.");
  expect(texts["parallel"]).toContain("by the agent");
  expect(texts["many_letters"]).toContain("image/png");
  expect(texts["many_letters"]).not.toContain("base64");
});
