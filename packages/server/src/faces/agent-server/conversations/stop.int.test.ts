import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defaultTools } from "@convoke/tool-host";
import { expect, test } from "vitest";
import { startTestServer } from "../../../testing/start-server.ts";
import { until } from "../../../testing/until.ts";

test.each(["stop", "interrupt"] as const)(
  "P43: after %s a command and what it started are dead soon",
  async (how) => {
    const command = "trap '' TERM HUP INT; sleep 600 & echo $! > child.pid; echo $$ > shell.pid; wait";
    await using server = await startTestServer({
      tools: defaultTools(),
      environment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
      script: {
        turns: [
          {
            tool_calls: [
              { name: "terminal", arguments: { command: `bash -c "${command.replaceAll("$", "\\$")}"` } },
            ],
          },
        ],
      },
    });
    const { id } = await server.createConversation({ text: "go" });
    const readPid = async (name: string): Promise<number> => {
      const text = await readFile(join(server.workspaceDir, name), "utf8").catch(() => "");
      return Number(text);
    };
    await until(async () => (await readPid("shell.pid")) > 0);
    const pids = [await readPid("child.pid"), await readPid("shell.pid")];
    expect(pids.map(isAlive)).toEqual([true, true]);

    await server.client[how](id);
    // The promise is 2 s, and the graces for a command that ignores every signal add up to 1.5 s; a machine that stalls gets
    // far more time. How long it takes is what `forty-stops.int.test.ts` says.
    await until(() => !pids.some(isAlive));
    expect(await server.waitForStatus(id, "paused")).toMatchObject({ execution_status: "paused" });
  },
);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // Nobody has this number: that is the answer.
  }
}
