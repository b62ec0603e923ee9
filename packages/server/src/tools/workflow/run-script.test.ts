import { expect, test } from "vitest";
import { runScript, type AgentOrder } from "./run-script.ts";

async function run(body: string, answer: (order: AgentOrder) => string = ({ prompt }) => `did ${prompt}`) {
  const orders: AgentOrder[] = [];
  const end = await runScript(
    body.includes("main") ? body : `async function main(wf) {\n${body}\n}`,
    async (order) => {
      orders.push(order);
      return answer(order);
    },
    new AbortController().signal,
  );
  return { ...end, orders };
}

const failing = ({ prompt }: AgentOrder): string => {
  if (prompt.includes("b")) throw new Error("It went wrong.");
  return prompt.toUpperCase();
};

test("tools 20.8.8: one agent, several at once in their order, and one that reads all", async () => {
  const { text, orders } = await run(`
    const first = await wf.run_agent("one", { subagent_type: "bash-runner", description: "First" });
    const parts = await wf.map_agents(["a", { b: 1 }], "look at {item}");
    const own = await wf.map_agents([1, 2], (n) => "number " + n, { max_concurrency: 1 });
    return { first, parts: wf.flatten([parts, own]), all: await wf.reduce_agent(parts, "sum up") };
  `);
  expect(JSON.parse(text!)).toEqual({
    first: "did one",
    parts: ["did look at a", 'did look at {"b":1}', "did number 1", "did number 2"],
    all: 'did sum up\n\n["did look at a","did look at {\\"b\\":1}"]',
  });
  expect(orders[0]).toEqual({ prompt: "one", subagentType: "bash-runner", description: "First" });
  expect(orders[1]).toMatchObject({ subagentType: "general-purpose", description: null });
});

test("tools 20.8.8: a map waits for all and names what failed; a pipeline has null for it", async () => {
  expect(await run(`return await wf.map_agents(["a", "b", "c"], "{item}")`, failing)).toMatchObject({
    isError: true,
    text: "1 of 3 items failed.\nItem 2: It went wrong.",
  });
  const piped = await run(
    `return await wf.pipeline(["a", "b"], "{item}", (value, item) => value + item)`,
    failing,
  );
  expect(JSON.parse(piped.text!)).toEqual(["Aa", null]);
});

test("tools 20.8.8: what is too long for one agent is dropped from the end, and counted", async () => {
  const { orders } = await run(`return await wf.reduce_agent(Array(10).fill("x".repeat(3000)), "sum up")`);
  expect(orders[0]!.prompt.length).toBeLessThan(12_200);
  expect(orders[0]!.prompt).toContain("(7 more items are left out");
});

test.each([
  ["const main = 1 +", "SyntaxError"],
  ["async function other(wf) {}; // main", "must define async function main(wf)"],
  ["throw new Error('no luck')", "no luck"],
  ["return await wf.run_agent('')", "give the agent a prompt"],
  ["return require('fs')", "require"],
  ["return await import('node:fs')", ""],
  ["return process.env", "process"],
  ["return fetch('http://127.0.0.1')", "fetch"],
  ["return __run('x')", "__run"],
  ["return [].constructor.constructor('return process')()", "process"],
  ["for (;;);", "computes for too long"],
  ["await null; for (;;);", "computes for too long"],
  ["const f = () => f(); f();", ""],
  ["const a = []; for (;;) a.push('x'.repeat(1e6) + a.length);", ""],
  [`return "${"x".repeat(20_000)}"`, "at most 20000"],
])("a script that cannot be run, or wants more than agents, fails with a reason: %s", async (body, words) => {
  const { isError, text, orders } = await run(body);
  expect(isError).toBe(true);
  expect(text).toContain(words);
  expect(orders).toEqual([]);
});

test("a script that is stopped while its agents work ends at once", async () => {
  const stop = new AbortController();
  const running = runScript(
    "async function main(wf) { return await wf.run_agent('x') }",
    () => {
      queueMicrotask(() => stop.abort());
      return new Promise<string>(() => {});
    },
    stop.signal,
  );
  expect(await running).toBeNull();
});
