import { expect, test } from "vitest";
import { openMemoryConversation } from "../testing/memory-conversation.ts";
import { createWindowedModel } from "../testing/windowed-model.ts";

/** `CONVOKE_STEPS=10000` measures time over so many steps; otherwise work is counted over a few hundred. */
const longSteps = Number(process.env["CONVOKE_STEPS"] ?? 0);

const window = { windowTokens: 8_000, agent: { llm: { model: "windowed", max_input_tokens: 7_000 } } };
const output = (command: string): string => `${command}: ${"a line of output ".repeat(20)}`;

test("P59: a run after many reads no more of its log than one after few", async () => {
  const model = createWindowedModel({ windowTokens: window.windowTokens, turns: 0 });
  await using opened = await openMemoryConversation({ model, agent: window.agent });
  let rows = 0;
  const readKinds = opened.log.readKinds.bind(opened.log);
  Object.assign(opened.log, {
    readKinds: (...range: Parameters<typeof readKinds>) => {
      const read = readKinds(...range);
      rows += read.length;
      return read;
    },
  });
  const perRun: number[] = [];
  for (let run = 0; run < 240; run++) {
    rows = 0;
    expect(await opened.run(`Question ${run}: ${"what about this ".repeat(10)}`)).toBe("finished");
    perRun.push(rows);
  }
  expect(opened.log.events.length).toBeGreaterThan(1_200);
  // Several condensations are in each part, so that their saw teeth are not compared.
  const early = sum(perRun.slice(40, 120));
  expect(sum(perRun.slice(160))).toBeLessThanOrEqual(1.2 * early);
  expect(early).toBeGreaterThan(0);
});

test("P59: a restarted conversation reads what its last condensation has left", async () => {
  const model = createWindowedModel({ windowTokens: window.windowTokens, turns: 300 });
  await using opened = await openMemoryConversation({ model, agent: window.agent, output });
  expect(await opened.run("Count.")).toBe("finished");
  const { viewStart, lastSeq } = opened.conversation.state;
  const left = viewStart.kept.reduce((count, [from, to]) => count + to - from + 1, 0);
  expect(lastSeq).toBeGreaterThan(900);
  expect(left + lastSeq - viewStart.fromSeq).toBeLessThan(200);
});

test.runIf(longSteps > 0)(
  "P59: step 10,000 costs at most 1.2 times what step 100 costs",
  { timeout: 600_000 },
  async () => {
    const askedAtMs: number[] = [];
    const model = createWindowedModel({
      windowTokens: 32_000,
      turns: longSteps,
      onRequest: () => askedAtMs.push(performance.now()),
    });
    const agent = { llm: { model: "windowed", max_input_tokens: 30_000 } };
    await using opened = await openMemoryConversation({ model, agent, output });
    expect(await opened.run("Count.")).toBe("finished");
    const stepMs = askedAtMs.slice(1).map((time, index) => time - askedAtMs[index]!);
    // The same number of condensations in each part; the machine is warm after the first thousand steps.
    const early = sum(stepMs.slice(1_000, 2_000));
    const late = sum(stepMs.slice(-1_000));
    process.stdout.write(
      `P59: steps 1,000 to 2,000: ${early.toFixed(0)} ms, the last 1,000: ${late.toFixed(0)} ms\n`,
    );
    expect(late).toBeLessThanOrEqual(1.2 * early);
  },
);

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
