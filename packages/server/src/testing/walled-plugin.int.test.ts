import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { readWallConfig } from "../boot/config-wall.ts";
import { openGitHost } from "../extensions/sources/testing/git-host.ts";
import { findBubblewrap } from "../sandboxes/find-bubblewrap.ts";
import { startTestServer } from "./start-server.ts";
import { withWalls } from "./walled-server.ts";

const hasGit = spawnSync("git", ["--version"]).status === 0;
const probe = await findBubblewrap({
  self: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
  unprivileged: { uid: 65_534, gid: 65_534 },
  environment: process.env,
});

/** Denies a call, and says whether it could write to its own folder and see the data folder of the server. */
const guard = `#!/bin/sh
cat > /dev/null
folder=$(dirname "$0")
if touch "$folder/written" 2>/dev/null; then writes=yes; else writes=no; fi
if test -e "$folder/words.txt"; then reads=yes; else reads=no; fi
if test -e "$1/master-key" || test -e "$1/application.sqlite"; then server=seen; else server=hidden; fi
echo "reads $reads, writes $writes, server $server" >&2
exit 2
`;

test.skipIf(!hasGit || !probe.isUsable)(
  `the hook of a plugin from git runs inside the wall, reads its own folder only, and denies a call (needs git and a working bubblewrap: ${probe.detail})`,
  { timeout: 240_000 },
  async () => {
    await using host = await openGitHost();
    await using server = await startTestServer({
      script: {
        turns: [
          { tool_calls: [{ id: "a", name: "terminal", arguments: { command: "echo ran" } }] },
          { text: "Denied." },
        ],
      },
      ...withWalls(),
      config: { wall: readWallConfig({}, { wall: "bubblewrap", network: "git.example.com" }) },
      git: { outside: host.ways },
      environment: { PATH: process.env["PATH"] ?? "" },
    });
    const command = `\${CLAUDE_PLUGIN_ROOT}/guard.sh ${server.dataDir}`;
    const commit = await host.commit("tools", {
      ".claude-plugin/plugin.json": '{"name":"kit"}',
      "hooks/hooks.json": JSON.stringify({ PreToolUse: [{ matcher: "*", hooks: [{ command }] }] }),
      "guard.sh": { run: guard },
      "words.txt": "here",
    });
    const source = "https://git.example.com/tools.git";
    const { id } = await server.createConversation({ text: "go", plugins: [{ source, ref: commit }] });
    await server.waitForStatus(id, "finished", 120_000);
    const answers = (await server.events(id)).filter(({ kind }) => kind.endsWith("Observation"));
    expect(answers).toMatchObject([
      {
        kind: "UserRejectObservation",
        tool_call_id: "a",
        rejection_reason: "reads yes, writes no, server hidden",
      },
    ]);
  },
);
