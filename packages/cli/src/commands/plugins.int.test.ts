import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readConfig } from "@convoke/server/config";
import {
  openGitHost,
  runConvoke,
  startTestServer,
  type CommandOutcome,
  type GitHost,
  type TestServer,
  type Tree,
} from "@convoke/server/testing";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonShapes, type JsonLine, type JsonShape } from "../json-shapes.ts";

const hasGit = spawnSync("git", ["--version"]).status === 0;
let host: GitHost;
let server: TestServer;

beforeAll(async () => {
  if (!hasGit) return;
  host = await openGitHost();
  const { wall } = readConfig({}, { wall: "off", network: "git.example.com" });
  server = await startTestServer({ config: { wall }, git: { outside: host.ways } });
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await host?.[Symbol.asyncDispose]();
});

function convoke(...words: string[]): Promise<CommandOutcome> {
  const environment = { HOME: server.folder, SESSION_API_KEY: server.key, CONVOKE_DATA_DIR: server.folder };
  return runConvoke(["plugins", ...words, "--server", server.url], environment);
}

/** The one line of a command that succeeds, of the shape. */
function lineOf<Shape extends JsonShape>(shape: Shape, stdout: string): JsonLine<Shape> {
  const line = JSON.parse(stdout) as JsonLine<Shape>;
  expect([...Value.Errors(jsonShapes[shape], line)]).toEqual([]);
  return line;
}

const plugin = (words: string): Tree => ({
  ".claude-plugin/plugin.json": '{"name":"kit","version":"1.0","description":"A kit."}',
  "skills/lint/SKILL.md": `---\ndescription: How to lint.\n---\n${words}`,
  "hooks/guard.sh": { run: "#!/bin/sh\nexit 0\n" },
});
const source = "https://git.example.com/tools.git";

test.skipIf(!hasGit)(
  "plugins are shown before they are added and updated, by exactly the commit that was shown (needs git)",
  async () => {
    const first = await host.commit("tools", plugin("Lint every file."));
    expect(await convoke("ls")).toMatchObject({ code: 0, stdout: expect.stringContaining("No plugins are") });
    const unasked = await convoke("add", source, "--ref", "main");
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining("Add --yes to install it") });
    expect(unasked.stdout).toContain("hooks/guard.sh (a program)");
    const shown = await convoke("add", source, "--dry-run", "--json");
    expect(lineOf("plugin_preview", shown.stdout)).toMatchObject({ name: "kit", resolved_ref: first });

    expect((await convoke("add", source, "--ref", "main", "--yes")).stdout).toMatch(/\nInstalled kit\.\n$/);
    const again = await convoke("add", source, "--yes");
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("installed already")]);

    const second = await host.commit("tools", plugin("Lint nothing."));
    const changes = await convoke("update", "kit", "--dry-run", "--json");
    expect(lineOf("plugin_changes", changes.stdout)).toMatchObject({ from: first, to: second });
    expect((await convoke("update", "kit")).code).toBe(2);
    expect(lineOf("plugin", (await convoke("show", "kit", "--json")).stdout)).toMatchObject({
      resolved_ref: first,
      requested_ref: "main",
    });
    const updated = await convoke("update", "kit", "--yes");
    expect(updated.stdout).toContain("  changed  skills/lint/SKILL.md\n");
    expect((await convoke("disable", "kit")).stdout).toBe("kit is off.\n");
    expect((await convoke("ls")).stdout).toMatch(
      new RegExp(
        `^NAME +VERSION +STATE +COMMIT +SOURCE\nkit +1\\.0 +off +${second.slice(0, 12)} +${source}\n$`,
      ),
    );
    const gone = await convoke("rm", "kit", "--yes", "--json");
    expect(lineOf("plugin_rm", gone.stdout)).toEqual({ name: "kit", removed: true });
    const missing = await convoke("show", "kit", "--json");
    expect([missing.code, JSON.parse(missing.stderr)]).toMatchObject([
      1,
      { error: { code: "not_installed" } },
    ]);
  },
);

test.skipIf(!hasGit)("a folder is a plugin as it is, and what is none is refused by name", async () => {
  const folder = join(server.workspaceDir, "own");
  await mkdir(join(folder, ".plugin"), { recursive: true });
  await writeFile(join(folder, ".plugin/plugin.json"), '{"name":"own","version":"2"}');
  expect((await convoke("add", folder, "--yes")).stdout).toContain("Installed own.");
  expect((await convoke("update", "own")).stdout).toContain("own was read again.");
  expect((await convoke("rm", "own", "--yes")).stdout).toBe("Removed own.\n");
  for (const [given, words] of [
    [server.workspaceDir, /no manifest/],
    ["https://other.example.com/tools.git", /other\.example\.com/],
  ] as const) {
    const refused = await convoke("add", given, "--yes");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(words)]);
  }
});
