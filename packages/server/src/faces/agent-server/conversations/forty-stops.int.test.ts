import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defaultTools } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../../testing/start-server.ts";
import { until } from "../../../testing/until.ts";

/** The number of the promise with `CONVOKE_EVERY_CASE=1`. */
const rounds = process.env["CONVOKE_EVERY_CASE"] === "1" ? 10 : 4;
const atOnce = 4;

test(`P43: ${rounds * atOnce} stops and interrupts of commands that ignore every signal: all dead soon, and nothing goes on`, async ({
  annotate,
}) => {
  const command = "trap '' TERM HUP INT; echo \\$\\$ > command.pid; while :; do sleep 1; done";
  const script = {
    turns: [{ tool_calls: [{ name: "terminal", arguments: { command: `bash -c "${command}"` } }] }],
    loop: true,
  };
  await using server = await startTestServer({
    tools: defaultTools(),
    environment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    script,
  });
  const stops: Stop[] = [];
  for (let round = 0; round < rounds; round++) {
    stops.push(
      ...(await Promise.all(
        Array.from({ length: atOnce }, (_, n) =>
          stopOne(server, round % 2 === 0 ? "stop" : "interrupt", `${round}-${n}`),
        ),
      )),
    );
  }
  const times = stops.map(({ dead }) => dead).toSorted((a, b) => a - b);
  const middle = times[Math.floor(times.length / 2)]!;
  await annotate(`p50 ${Math.round(middle)} ms, worst of ${times.length} ${Math.round(times.at(-1)!)} ms`);
  // The promise is 2 s and the note above says what it was; a machine that runs other suites gets far more time.
  expect(middle).toBeLessThan(50_000);
  // An answer waits for no death: commands that ignore what asks them to end live on for a moment. Where a busy machine was late
  // with an answer they do not; if an answer waited, none would.
  expect(stops.filter(({ wasAlive }) => wasAlive)).not.toEqual([]);
}, 600_000);

/** Whether the command lived when the stop was answered, and the milliseconds from the stop to its death. */
type Stop = { readonly wasAlive: boolean; readonly dead: number };

async function stopOne(server: TestServer, how: "stop" | "interrupt", name: string): Promise<Stop> {
  const working_dir = join(server.workspaceDir, name);
  const { id } = await server.createConversation({
    text: "go",
    workspace: { kind: "LocalWorkspace", working_dir },
  });
  let pid = 0;
  await until(async () => (pid = await readPid(working_dir)) > 0);
  const startedMs = performance.now();
  await server.client[how](id);
  const wasAlive = isAlive(pid);
  const requests = (await server.events(id)).length;
  await until(() => !isAlive(pid));
  const dead = performance.now() - startedMs;
  await server.waitForStatus(id, "paused");
  const log = await server.events(id);
  expect(log).toHaveLength(requests);
  expect(log.filter(({ kind }) => kind === "AgentErrorEvent")).toHaveLength(1);
  return { wasAlive, dead };
}

async function readPid(folder: string): Promise<number> {
  return Number(await readFile(join(folder, "command.pid"), "utf8").catch(() => ""));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // Nobody has this number: that is the answer.
  }
}
