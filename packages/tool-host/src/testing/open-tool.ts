import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Action, Observation } from "@convoke/protocol";
import { createValidator } from "@convoke/protocol/validate";
import type { Checked } from "@convoke/protocol/validate";
import type { Tool, ToolContext, ToolSecret, ToolSet } from "../tool.ts";
import { openTemporaryDirectory } from "./temporary-directory.ts";

export type OpenTool = AsyncDisposable & {
  readonly context: ToolContext;
  /** Runs an action (of one tool of a set), and validates action and observation against the wire schemas. */
  readonly execute: (action: Action, signal?: AbortSignal, face?: string) => Promise<Observation>;
  /** Closes the tool and opens it again on the same directories. */
  readonly reopen: () => Promise<void>;
  /** Removes the state directory, as a failing disk would. */
  readonly removeState: () => Promise<void>;
  /** Names in the workspace, sorted. */
  readonly list: () => Promise<string[]>;
};

/** One tool in a temporary workspace that holds `files`. */
export async function openTool(
  tool: Tool | ToolSet,
  files: Readonly<Record<string, string>> = {},
  params: ToolContext["params"] = {},
): Promise<OpenTool> {
  const directory = await openTemporaryDirectory();
  const workspaceDir = join(directory.path, "workspace");
  const stateDir = join(directory.path, "state");
  await mkdir(stateDir, { recursive: true });
  for (const [name, text] of Object.entries({ ...files })) {
    const path = join(workspaceDir, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  await mkdir(workspaceDir, { recursive: true });
  const context: ToolContext = {
    sessionId: "session",
    workspaceDir,
    stateDir,
    environment: { PATH: "/usr/bin:/bin", HOME: directory.path },
    params,
    canSee: false,
  };
  const secrets: readonly ToolSecret[] = [];
  const validator = createValidator();
  let instance = await tool.open(context);
  return {
    context,
    execute: async (action, signal = new AbortController().signal, name = tool.name) => {
      const checked = valueOf(validator.check(Action, structuredClone(action)));
      const observation = await instance.execute(checked, {
        actionId: "a",
        tool: name,
        signal,
        secrets,
        onProgress: () => {},
      });
      const completed = valueOf(validator.check(Observation, structuredClone(observation)));
      if (!isDeepStrictEqual(completed, observation)) {
        throw new Error(`The observation leaves out fields: ${JSON.stringify(observation)}`);
      }
      return observation;
    },
    reopen: async () => {
      await instance[Symbol.asyncDispose]();
      instance = await tool.open(context);
    },
    removeState: async () => rm(stateDir, { recursive: true }),
    list: async () => (await readdir(workspaceDir)).sort(),
    [Symbol.asyncDispose]: async () => {
      await instance[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

function valueOf<T>(checked: Checked<T>): T {
  if (!checked.ok) throw new Error(`Not valid: ${JSON.stringify(checked.errors)}`);
  return checked.value;
}
