import { execFileSync, spawnSync } from "node:child_process";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startScriptedModel } from "@convoke/server/testing";
import type { InstallPlace } from "./install-place.ts";

export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

/** A user talks to a scripted model with `convoke chat` in a terminal. Returns what is wrong; null when all is well. */
export async function tryChat(place: InstallPlace, project: string): Promise<string | null> {
  await using model = await startScriptedModel({
    script: { turns: [{ text: "Glad to help." }], loop: true },
  });
  const socket = path.join(path.dirname(place.home), "tmux.sock");
  const tmux = (...words: string[]): string =>
    execFileSync("tmux", ["-S", socket, "-f", "/dev/null", ...words], {
      encoding: "utf8",
      env: {
        ...place.environment,
        LANG: "C.UTF-8",
        TERM: "xterm-256color",
        LLM_MODEL: "openai/scripted",
        LLM_API_KEY: "any",
        LLM_BASE_URL: `${model.url}/v1`,
      },
    });
  const sees = async (text: RegExp): Promise<void> => {
    const until = performance.now() + longestMs;
    for (;;) {
      const screen = tmux("capture-pane", "-p", "-J", "-S", "-");
      if (text.test(screen)) return;
      if (performance.now() > until) throw new Error(`chat: no ${text} on the screen:\n${screen.trim()}`);
      await delay(100);
    }
  };
  const shell = "env HISTFILE= PS1='ready$ ' bash --norc --noprofile";
  tmux("new-session", "-d", "-x", "100", "-y", "30", "-c", project, shell);
  try {
    await sees(/ready\$/);
    tmux("send-keys", "-l", "node_modules/.bin/convoke chat");
    tmux("send-keys", "Enter");
    await sees(/new conversation/);
    tmux("send-keys", "-l", "hello");
    tmux("send-keys", "Enter");
    await sees(/● Glad to help\./u);
    tmux("send-keys", "C-d");
    await sees(/To come back: convoke chat [0-9a-f]{8}[^]*ready\$/u);
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    tmux("kill-server");
  }
}

/** A machine that is busy starts a server slowly. */
const longestMs = 120_000;
