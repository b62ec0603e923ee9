import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Action } from "@convoke/protocol";
import { expect, onTestFinished } from "vitest";
import type { ExecuteOptions, Outcome, SessionSpec, ToolHost, ToolSession } from "../host.ts";
import { openTemporaryDirectory } from "./temporary-directory.ts";
import type { ToolSecret } from "../tool.ts";

export type HostUnderTest = {
  readonly host: ToolHost;
  /** Ends the host like a crash: its sessions are not closed. Running tools continue until the files they wait for appear. */
  readonly crash: () => Promise<void>;
};

type RunOptions = ExecuteOptions & { readonly tool?: string; readonly secrets?: readonly ToolSecret[] };

/** One call of a session; a `script` in words is one of the probe tools. */
export async function run(
  session: ToolSession,
  actionId: string,
  script: string | Action,
  { tool = "probe", secrets = [], ...options }: RunOptions = {},
): Promise<Outcome> {
  const action: Action = typeof script === "string" ? { kind: "ThinkAction", thought: script } : script;
  return session.execute({ actionId, tool, action, secrets }, options);
}

/** Input for a call that gets none. */
export async function* noInputs(): AsyncGenerator<never> {}

/** What a probe tool that said `text` leads to. */
export function textOutcome(text: string): Outcome {
  const content = [{ cache_prompt: false, type: "text" as const, text }];
  return { type: "observation", observation: { kind: "ThinkObservation", content, is_error: false } };
}

/** Opens one host after another on the same directories; all are closed when the test ends. */
export async function openBench(open: () => Promise<HostUnderTest>) {
  const directory = await openTemporaryDirectory();
  const dir = directory.path;
  const workspaceDir = join(dir, "workspace");
  const spec: SessionSpec = {
    sessionId: "session",
    workspaceDir,
    stateDir: join(dir, "state"),
    tools: ["probe", "second_probe", "reader", "broken"].map((name) => ({ name })),
  };
  const opened = [await open()];
  const current = (): HostUnderTest => opened.at(-1) as HostUnderTest;
  const runs = async (): Promise<string[]> =>
    (await readFile(join(workspaceDir, "runs.log"), "utf8")).split("\n").slice(0, -1);
  onTestFinished(async () => {
    for (const { host } of opened) await host[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });
  return {
    dir,
    get host() {
      return current().host;
    },
    openSession: async (changes: Partial<SessionSpec> = {}) =>
      current().host.openSession({ ...spec, ...changes }),
    restart: async () => {
      await current().host[Symbol.asyncDispose]();
      opened.push(await open());
    },
    crash: async () => {
      await current().crash();
      opened.push(await open());
    },
    runs,
    waitForRuns: async (names: readonly string[]) =>
      expect.poll(() => runs().catch(() => []), { interval: 2 }).toEqual(names),
    release: async (name: string) => writeFile(join(workspaceDir, `${name}.go`), ""),
  };
}
