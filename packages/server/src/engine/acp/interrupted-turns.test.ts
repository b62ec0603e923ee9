import { expect, test } from "vitest";
import type { AgentScript } from "../../testing/acp/agent-script.ts";
import { openMemoryAgent } from "../../testing/acp/memory-agent.ts";
import { startInProcess } from "../../testing/acp/start-in-process.ts";
import { logLines } from "../../testing/acp/log-lines.ts";
import { MemoryLog } from "../../testing/interleaving/memory-journal.ts";
import { sampleConversation } from "../../journal/sample-events.ts";
import { until } from "../../testing/until.ts";

const ask = { id: "c1", title: "ls", kind: "execute", rawInput: { command: "ls" } };
const script: AgentScript = {
  canLoad: true,
  prompts: [[{ say: "I look." }, { ask }, { say: "Seen." }]],
};

/** What a process has left that was killed right after one of its commits. */
function killedAfter(batches: MemoryLog["batches"], count: number): MemoryLog {
  const log = new MemoryLog(sampleConversation("c"));
  const lease = log.claim();
  for (const events of batches.slice(0, count))
    log.write(lease, { expectedSeq: log.row.lastSeq, events, conversation: {} });
  return log;
}

test("after a kill at any commit the prompt is not sent again: it is told as interrupted, with nothing left open", async () => {
  const agents = startInProcess(script);
  let batches: MemoryLog["batches"];
  {
    await using whole = await openMemoryAgent(script, { agents });
    expect(await whole.run("go")).toBe("finished");
    batches = whole.log.batches;
  }
  for (let count = 1; count < batches.length; count += 1) {
    const log = killedAfter(batches, count);
    const before = log.events.length;
    const texts = log.events.map(({ json }) => json).join();
    const wasSent = texts.includes('"begun"');
    const hasEnded = texts.includes('"end_turn"');
    const later = startInProcess({ canLoad: true });
    await using opened = await openMemoryAgent({}, { agents: later, log });
    await opened.conversation.resume();
    await until(() => !opened.conversation.isBusy);
    const { state } = opened.conversation;
    const news = logLines(opened).slice(-2);
    const sent = later.calls.filter(({ method }) => method === "session/prompt");
    if (wasSent && !hasEnded) {
      expect(news, `after commit ${count}`).toEqual(["is error", "error ACPPromptInterrupted"]);
      expect(sent).toEqual([]);
    } else expect(state.status, `after commit ${count}`).toBe("finished");
    expect(state).toMatchObject({ openActions: [], acp: { calls: [], isPrompting: false } });
    expect(log.events.length).toBeGreaterThan(before);
    if (!wasSent) continue;
    expect(await opened.run("more")).toBe("finished");
    expect(later.calls.map(({ method }) => method)).toContain("session/load");
    expect(logLines(opened)).not.toContain("warning acp_session_lost");
  }
});

test("an answer to a question that nobody asks any more does nothing, and says so", async () => {
  const config = { confirmation_policy: { kind: "AlwaysConfirm" as const } };
  const first = await openMemoryAgent(script, { config });
  const content = [{ type: "text" as const, text: "go", cache_prompt: false }];
  await first.conversation.send({ message: { role: "user", content, thinking_blocks: [] }, wantsRun: true });
  await until(() => first.conversation.state.status === "waiting_for_confirmation");
  const log = killedAfter(first.log.batches, first.log.batches.length);
  await first[Symbol.asyncDispose]();
  await using opened = await openMemoryAgent({}, { config, log });
  await opened.conversation.resume();
  expect(opened.conversation.state.status).toBe("waiting_for_confirmation");
  await opened.conversation.accept();
  await until(() => !opened.conversation.isBusy);
  expect(logLines(opened).slice(-5)).toEqual([
    "AgentErrorEvent c1",
    "call c1 failed",
    "prompt ended interrupted",
    "is error",
    "error ACPPromptInterrupted",
  ]);
});

test("a conversation that leaves this process keeps what was said, and its prompt is told as interrupted later", async () => {
  const opened = await openMemoryAgent({ prompts: [[{ say: "Half" }, { hang: "until cancelled" }]] });
  const content = [{ type: "text" as const, text: "go", cache_prompt: false }];
  await opened.conversation.send({ message: { role: "user", content, thinking_blocks: [] }, wantsRun: true });
  await until(() => opened.conversation.runner.answerText === "Half");
  await opened[Symbol.asyncDispose]();
  expect(logLines(opened).slice(-2)).toEqual(["prompt begun", "agent: Half"]);
  await using later = await openMemoryAgent({ canResume: true }, { log: opened.log });
  await later.conversation.resume();
  await until(() => !later.conversation.isBusy);
  expect(logLines(later).slice(-2)).toEqual(["is error", "error ACPPromptInterrupted"]);
  expect(await later.run("more")).toBe("finished");
  expect(later.agents.calls.map(({ method }) => method)).toContain("session/resume");
});
