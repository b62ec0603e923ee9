import { execFileSync, spawnSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { startTestServer, testedPrograms } from "@convoke/server/testing";
import { expect, test } from "vitest";

const { command } = testedPrograms();
const hasTmux = spawnSync("tmux", ["-V"]).status === 0;
const call = (given: string) => ({ name: "terminal", arguments: { command: given, security_risk: "LOW" } });

/** A window of tmux with a shell in it, on a server of its own. */
function openWindow(folder: string, environment: Readonly<Record<string, string>>) {
  const socket = join(folder, "tmux.sock");
  const tmux = (...args: string[]): string =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...args], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"], LANG: "C.UTF-8", TERM: "xterm-256color", ...environment },
    });
  tmux(
    "new-session",
    "-d",
    "-x",
    "80",
    "-y",
    "24",
    "-c",
    folder,
    "env PS1='ready$ ' bash --norc --noprofile",
  );
  const screen = (): string => tmux("capture-pane", "-p", "-J", "-S", "-");
  return {
    [Symbol.dispose]: (): void => void tmux("kill-server"),
    screen,
    keys: (...names: string[]): void => void tmux("send-keys", ...names),
    type: (text: string): void => void tmux("send-keys", "-l", text),
    paste(text: string): void {
      tmux("set-buffer", text);
      tmux("paste-buffer", "-p");
    },
    resize: (columns: number, rows: number): void =>
      void tmux("resize-window", "-x", String(columns), "-y", String(rows)),
    sees: async (text: string | RegExp): Promise<void> =>
      await expect.poll(screen, { timeout: 60_000, interval: 50 }).toMatch(text),
    lacks: async (text: string): Promise<void> =>
      await expect.poll(screen, { timeout: 60_000, interval: 50 }).not.toContain(text),
  };
}

test.skipIf(!hasTmux)(
  "convoke chat in tmux: keys, a paste, a resize, ctrl-z, and the terminal as it was",
  async () => {
    const turns = [
      { text: "One.\nTwo.", tool_calls: [call("hold a")] },
      { text: "It goes on." },
      { text: "And on." },
    ];
    await using server = await startTestServer({ script: { turns } });
    const home = join(server.folder, "home");
    await mkdir(home);
    using window = openWindow(server.folder, {
      HOME: home,
      SESSION_API_KEY: server.key,
      LLM_MODEL: "openai/scripted",
      LLM_API_KEY: "any",
      LLM_BASE_URL: `${server.model.url}/v1`,
    });
    await window.sees("ready$");
    const chat = `${process.execPath} ${command} chat --server ${server.url} --sandbox off --workspace ${server.workspaceDir}`;
    window.type(chat);
    window.keys("Enter");
    await window.sees("new conversation");

    window.paste(Array.from({ length: 14 }, (_, index) => `line ${index}`).join("\n"));
    await window.sees("> [paste 1: 14 lines]");
    window.type(" do it");
    window.keys("M-Enter");
    window.type("now");
    await window.sees("  now");
    window.keys("Enter");
    await window.sees(/line 13 do it\n {2}now[^]*● One\.\n {2}Two\.[^]*\$ hold a[^]*esc interrupts/u);

    window.resize(60, 12);
    window.type("typed");
    await window.sees("> typed");
    window.resize(120, 40);
    window.keys("C-z");
    await window.sees(/Stopped[^]*ready\$/u);
    window.type("stty -a | grep -c -e ' icanon'; fg");
    window.keys("Enter");
    await window.sees(/^1\n/mu);
    await window.sees("> typed");
    window.keys("C-u");
    await window.lacks("> typed");
    window.keys("Escape");
    await window.sees("interrupted");
    window.type("go on");
    window.keys("Enter");
    await window.sees("It goes on.");
    // What is still being written goes with the area below.
    await window.lacks("esc interrupts");
    window.keys("C-c");
    window.keys("C-c");
    await window.sees(/To come back: convoke chat [0-9a-f]{8}\n[^]*ready\$/u);
    expect(window.screen().split("It goes on.")).toHaveLength(2);
    expect(window.screen()).not.toContain("esc interrupts");

    const [id = ""] = /convoke chat ([0-9a-f]{8})/u.exec(window.screen())!.slice(1);
    window.type(`clear; ${chat} ${id}`);
    window.keys("Enter");
    await window.sees(/hold a[^]*It goes on\.[^]*scripted/u);
    // Nothing of the area below stays behind, at the top of a window neither.
    expect(window.screen()).not.toContain("new conversation");
    window.keys("C-d");
    await window.sees(/To come back[^]*ready\$/u);
    window.type("clear; stty -a | grep -c -e ' icanon'; echo en''d");
    window.keys("Enter");
    await window.sees(/^1\nend/mu);
  },
);

test("convoke chat without a terminal names the command for pipes", () => {
  const { status, stderr } = spawnSync(process.execPath, [command, "chat"], {
    input: "hi",
    encoding: "utf8",
  });
  expect(stderr).toContain("convoke run");
  expect(status).toBe(2);
});
