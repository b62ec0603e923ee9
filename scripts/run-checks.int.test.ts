import { expect, test } from "vitest";
import { type CheckResult, runChecks } from "./run-checks.ts";

async function resultsOf(
  commands: Readonly<Record<string, string>>,
): Promise<Omit<CheckResult, "durationMs">[]> {
  const received: CheckResult[] = [];
  const results = await runChecks(
    Object.entries(commands).map(([name, source]) => ({ name, nodeArguments: ["--eval", source] })),
    { directory: import.meta.dirname, environment: {}, onResult: (result) => received.push(result) },
  );
  expect(received).toEqual(results);
  return results
    .map(({ name, isOk, output }) => ({ name, isOk, output }))
    .toSorted((left, right) => left.name.localeCompare(right.name));
}

test("each check ends ok or failed, with what it printed, and one failure stops no other", async () => {
  const results = await resultsOf({
    a: "console.log('fine')",
    b: "console.log('out'); process.exitCode = 3",
    c: "process.kill(process.pid, 'SIGKILL')",
    d: "console.error('said on the error stream')",
  });
  expect(results).toEqual([
    { name: "a", isOk: true, output: "fine\n" },
    { name: "b", isOk: false, output: "out\n" },
    { name: "c", isOk: false, output: "ended by SIGKILL\n" },
    { name: "d", isOk: true, output: "said on the error stream\n" },
  ]);
});

test("a script that is missing fails and is named", async () => {
  const [result] = await runChecks([{ name: "gone", nodeArguments: ["scripts/no-such-script.ts"] }], {
    directory: import.meta.dirname,
    environment: {},
    onResult: () => undefined,
  });
  expect(result?.isOk).toBe(false);
  expect(result?.output).toContain("no-such-script.ts");
});
