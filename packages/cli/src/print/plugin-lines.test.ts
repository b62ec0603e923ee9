import type { FetchPluginResponse, InstalledPluginResponse } from "@convoke/protocol";
import { expect, test } from "vitest";
import { changesText, pluginText, previewText } from "./plugin-lines.ts";

const commit = "0123456789abcdef0123456789abcdef01234567";

const preview: FetchPluginResponse = {
  name: "kit",
  version: "1.0",
  description: "A kit\u001b[31m for\n repositories.",
  manifest: {},
  path: "/srv/copy/kit",
  source: "https://git.example.com/tools.git",
  repo_path: "kit",
  resolved_ref: commit,
  digest: "d1",
  skills: ["lint", "test"],
  commands: ["kit:ship"],
  agents: [{ name: "poet", description: "Writes verses." }],
  hooks: [{ event: "PreToolUse", matcher: "terminal", runs: "command: kit/guard.sh" }],
  mcp_servers: [{ name: "verses", transport: "stdio", target: "kit/serve" }],
  files: [
    { path: "hooks/guard.sh", size: 17, is_executable: true },
    { path: "skills/lint/SKILL.md", size: 40, is_executable: false },
  ],
  warnings: [{ code: "has_hooks", detail: "It has 1 hooks, which run at events of a conversation." }],
};

test("a preview shows everything that a plugin would bring, and drives no terminal", () => {
  expect(previewText(preview)).toMatchInlineSnapshot(`
    "kit 1.0
      what      A kit for repositories.
      source    https://git.example.com/tools.git kit
      commit    0123456789abcdef0123456789abcdef01234567
      skills    lint, test
      commands  /kit:ship
      agents    poet
      hook      PreToolUse terminal: command: kit/guard.sh
      server    verses: kit/serve
      file      hooks/guard.sh (a program)
      file      skills/lint/SKILL.md
      note      It has 1 hooks, which run at events of a conversation."
  `);
});

test("a preview of a folder without anything is short", () => {
  const { name, version, source, manifest, path } = preview;
  const bare = { name, version, source, manifest, path, description: "", skills: [], commands: [] };
  expect(previewText({ ...bare, resolved_ref: null, digest: null, repo_path: null })).toMatchInlineSnapshot(`
    "kit 1.0
      source  https://git.example.com/tools.git"
  `);
});

test("an installed plugin says how to switch it on", () => {
  const installed: InstalledPluginResponse = {
    name: "kit",
    version: "1.0",
    description: "A kit.",
    enabled: false,
    source: "github:ada/tools",
    requested_ref: "main",
    resolved_ref: commit,
    digest: "d1",
    repo_path: null,
    installed_at: "2026-11-28T07:00:00Z",
    install_path: "/srv/copy",
    skills: [{ name: "lint", description: null }],
    files: [],
  };
  expect(pluginText(installed)).toMatchInlineSnapshot(`
    "kit 1.0
      what     A kit.
      state    off; convoke plugins enable switches it on
      source   github:ada/tools
      follows  main
      commit   0123456789abcdef0123456789abcdef01234567
      since    2026-11-28T07:00:00Z
      folder   /srv/copy
      skills   lint"
  `);
});

test("changes are shown by path, with both commits", () => {
  const changes = {
    from: commit,
    to: "fedcba98".repeat(5),
    added: ["hooks/guard.sh"],
    changed: ["skills/lint/SKILL.md"],
    removed: ["serve"],
  };
  expect(changesText("kit", changes)).toMatchInlineSnapshot(`
    "kit 0123456789ab -> fedcba98fedc
      added    hooks/guard.sh
      changed  skills/lint/SKILL.md
      removed  serve"
  `);
});
