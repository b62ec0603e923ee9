import { chownSync, lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { defaultTools } from "@convoke/tool-host";
import { describe, expect, test } from "vitest";
import { startTestServer } from "../testing/start-server.ts";

const owner = { uid: 4711, gid: 4712 };
const call = (command: string) => ({ tool_calls: [{ name: "terminal", arguments: { command } }] });

describe.skipIf(process.getuid?.() !== 0)("a server that is root (needs root)", () => {
  test("39, P50: files that tools create in another user's folder belong to its owner", async () => {
    await using server = await startTestServer({
      tools: defaultTools(),
      environment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
      script: {
        turns: [call("mkdir -p a/b && echo made > a/b/c"), call("ln -s c a/b/d"), { text: "Done." }],
      },
    });
    const home = join(server.folder, "home");
    mkdirSync(home);
    chownSync(home, owner.uid, owner.gid);
    const working_dir = join(home, "new", "project");
    await server.runTo("finished", "Go.", { workspace: { kind: "LocalWorkspace", working_dir } });
    for (const path of ["..", ".", "a", "a/b", "a/b/c", "a/b/d"]) {
      const { uid, gid } = lstatSync(join(working_dir, path));
      expect({ path, uid, gid }).toEqual({ path, ...owner });
    }
  });
});
