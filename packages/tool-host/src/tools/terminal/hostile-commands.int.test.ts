import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { hostileCommands, type HostileCommand } from "./testing/hostile-commands.ts";
import {
  openTestTerminal,
  type Answer,
  type TestTerminal,
  type TestTerminalOptions,
} from "./testing/open-terminal.ts";

const quietSeconds = 1;
/** Milliseconds that a busy machine may add to a deadline. */
const slackMs = 60_000;
/** Maximum number of reads, a quiet second each, for a program that a busy machine delays. */
const maxReads = 60;

function isInstalled(program: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" }).status === 0;
}

async function step(terminal: TestTerminal, text: string): Promise<Answer> {
  return text === "reset" ? terminal.run("", { reset: true }) : terminal.type(text);
}

/** Reads on while the program runs and `isDone` returns false. */
async function readOn(
  terminal: TestTerminal,
  first: Answer,
  isDone: (text: string) => boolean,
): Promise<Answer> {
  let answer = first;
  for (let reads = 0; reads < maxReads && answer.exit_code === -1 && !isDone(answer.text); reads += 1) {
    const more = await terminal.run("");
    answer = { ...more, text: answer.text + more.text };
  }
  return answer;
}

async function survive(hostile: HostileCommand, options: TestTerminalOptions): Promise<void> {
  const params = { no_change_timeout_seconds: quietSeconds };
  await using terminal = await openTestTerminal({ params, ...options });
  const { command, timeout = null } = hostile;
  let answer = await terminal.run(command, { timeout });
  expect(answer.elapsedMs).toBeLessThan((timeout ?? quietSeconds + 1) * 1000 + slackMs);
  expect(answer.is_error).toBe(false);
  const { shows = "" } = hostile;
  answer = await readOn(terminal, answer, (text) => text.includes(shows));
  if (hostile.shows !== undefined) expect(answer.text).toContain(hostile.shows);
  if (hostile.hides !== undefined) expect(answer.text).not.toContain(hostile.hides);
  // Only text reaches the model: colours are the only escape sequences.
  // oxlint-disable-next-line no-control-regex -- control characters are what must be gone
  expect(answer.text.replaceAll(/\u001b\[[\d;:]*m/g, "")).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/);
  for (const text of hostile.steps ?? []) {
    if (answer.exit_code !== -1) break;
    answer = await step(terminal, text);
    expect(answer.elapsedMs).toBeLessThan(quietSeconds * 1000 + slackMs);
  }
  answer = await readOn(terminal, answer, () => false);
  expect(answer.exit_code).not.toBe(-1);
  if (hostile.exitCode !== undefined) expect(answer.exit_code).toBe(hostile.exitCode);
  const next = await terminal.run("echo next-$((40 + 2)); (exit 7)", { timeout: 60 });
  expect(next.exit_code).toBe(7);
  if (hostile.isNoisy === true) expect(next.text).toContain("next-42");
  else expect(next.text).toBe("next-42");
}

/** A terminal with a name is the same program: it gets every sixth command, and all with `CONVOKE_EVERY_CASE=1`. */
const nthNamed = process.env["CONVOKE_EVERY_CASE"] === "1" ? 1 : 6;

describe.each([
  ["the terminal", {}, 1],
  ["a terminal with a name", { name: "build" }, nthNamed],
])("P15: hostile commands in %s", { timeout: 300_000 }, (_which, options, nth) => {
  for (const hostile of hostileCommands.filter((_, index) => index % nth === 0)) {
    const isMissing = hostile.program !== undefined && !isInstalled(hostile.program);
    const title = JSON.stringify(hostile.command).slice(1, 90);
    if (isMissing) test.skip(`P15: ${title} (skipped: ${hostile.program} is not installed)`);
    else test.concurrent(`P15: ${title}`, () => survive(hostile, options));
  }

  test("P15: the table has at least sixty commands", () => {
    expect(hostileCommands.length).toBeGreaterThanOrEqual(60);
  });
});
