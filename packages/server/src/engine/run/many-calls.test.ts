import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { AgentErrorEvent } from "@convoke/protocol";
import { expect, test } from "vitest";
import { startTestServer } from "../../testing/start-server.ts";

/** A model that first answers with this body and then with text. */
async function startModel(first: (write: (chunk: object) => void) => void) {
  let isFirst = true;
  const server = createServer((request, reply) => {
    request.resume();
    reply.writeHead(200, { "content-type": "text/event-stream" });
    const write = (delta: object): void =>
      void reply.write(`data: ${JSON.stringify({ id: "r", choices: [{ index: 0, delta }] })}\n\n`);
    if (isFirst) first(write);
    else write({ content: "Done." });
    isFirst = false;
    reply.end("data: [DONE]\n\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const nativeCalls = (write: (delta: object) => void): void => {
  for (let index = 0; index < 30_000; index++) {
    const call = { name: "terminal", arguments: '{"command":"echo"}' };
    write({ tool_calls: [{ index, id: `call_${index}`, type: "function", function: call }] });
  }
};
const repeated = (chunk: string) => (write: (delta: object) => void) => {
  for (let at = 0; at < 100; at++) write({ content: chunk.repeat(20_000 / chunk.length) });
};

/** Processor time from now until `end`, whole and the most between two turns of the event loop: a busy machine changes neither. */
function watchUsage() {
  const before = process.cpuUsage();
  let last = before;
  let longest = 0;
  const secondsSince = (earlier: NodeJS.CpuUsage): number => {
    const { user, system } = process.cpuUsage(earlier);
    return (user + system) / 1e6;
  };
  const timer = setInterval(() => {
    longest = Math.max(longest, secondsSince(last));
    last = process.cpuUsage();
  }, 10);
  return {
    end: () => {
      clearInterval(timer);
      return { seconds: secondsSince(before), longestSeconds: Math.max(longest, secondsSince(last)) };
    },
  };
}

test.each([
  ["30,000 calls", nativeCalls, true],
  ["2 MB of <function=", repeated("<function="), false],
  ["2 MB of <tool_call>", repeated("<tool_call>"), false],
  ["2 MB of whole calls", repeated('<call name="terminal"></call>'), false],
] as const)(
  "hardening 4: after %s in one answer others are served, and the run continues",
  async (_, first, isNative) => {
    await using model = await startModel(first);
    await using server = await startTestServer({ script: { turns: [] } });
    const { agent } = server.startRequest();
    const llm = { ...agent.llm, base_url: model.url, native_tool_calling: isNative };
    const usage = watchUsage();
    const id = await server.runTo("finished", "go", { agent: { ...agent, llm }, max_iterations: 5 });
    const { seconds, longestSeconds } = usage.end();
    if (process.env["CONVOKE_PRINT"]) console.log(_, seconds, "s", longestSeconds);
    const log = await server.events(id);
    const calls = log.filter(({ kind }) => kind === "ActionEvent");
    expect(calls).toHaveLength(1_024);
    const errors = log.filter((event): event is AgentErrorEvent => event.kind === "AgentErrorEvent");
    const notRun = errors.filter(({ error }) => error.includes("of one answer 256 calls are run"));
    expect(notRun).toHaveLength(1_024 - 256);
    expect(notRun[0]!.error).toContain("Those behind the 1024th are left out");
    expect(server.quickTools.started.length).toBeLessThanOrEqual(256);
    // They took 45 s of processor, and others waited for 10 to 16 s.
    expect(seconds).toBeLessThan(15);
    expect(longestSeconds).toBeLessThan(1.5);
  },
);
