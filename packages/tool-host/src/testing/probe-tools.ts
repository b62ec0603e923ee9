import { access, appendFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Action, ThinkAction, ThinkObservation } from "@convoke/protocol";
import { ToolInputError } from "../tool.ts";
import type { Tool, ToolCall, ToolContext, ToolFace, ToolInstance, ToolSet } from "../tool.ts";
import { annotate, defineTool } from "../tools/define-tool.ts";
import { imagePart, textPart } from "../tools/observation-content.ts";

/**
 * Tools whose thought is a script, `verb` or `verb:argument`. Their effects are files of the workspace, so a test sees
 * them from another process too: every run appends its argument to `runs.log`.
 *
 * `say:text` answers with the text; `picture:text` with an image address; `hold:name` waits for the file `name.go` or the
 * abort; `sees` whether pictures are shown; `stubborn:name` ignores the abort; `progress:text` reports the text twice; `refuse:text` and `fail:text` throw.
 */
export const probeTools: readonly (Tool | ToolSet)[] = [
  probe("probe", false),
  probe("second_probe", false),
  probe("reader", true),
  {
    name: "probe_set",
    faces: [
      { ...faceOf("left", false), traits: () => ({ place: "probe_set" }) },
      { ...faceOf("right", true), traits: () => ({ place: "probe_set" }) },
    ],
    open: async (context) => new Probe(context),
  },
  {
    name: "queue_set",
    faces: [faceOf("near", false), faceOf("far", false), faceOf("free", true)],
    queueOf: (tool) => (tool === "free" ? null : tool),
    open: async (context) =>
      Object.assign(new Probe(context), {
        terminals: () => [
          {
            name: "near",
            command: "sit",
            startedAtMs: 1,
            isRunning: true,
            exitCode: null,
            isLent: false,
            isKept: true,
          },
        ],
      }),
  },
  { ...probe("broken", false), open: () => Promise.reject(new Error("no such device: hunter2-secret")) },
];

function probe(name: string, isReadOnly: boolean): Tool {
  return { ...faceOf(name, isReadOnly), open: async (context) => new Probe(context) };
}

function faceOf(name: string, isReadOnly: boolean): ToolFace {
  return {
    name,
    actionKind: "ThinkAction",
    isReadOnly,
    define: () =>
      defineTool(
        "Think",
        name,
        "Does what the script says.",
        annotate(null, {
          readOnly: isReadOnly,
          destructive: false,
          idempotent: isReadOnly,
          openWorld: false,
        }),
      ),
  };
}

class Probe implements ToolInstance {
  readonly #workspaceDir: string;
  readonly #canSee: boolean;

  constructor(context: ToolContext) {
    this.#workspaceDir = context.workspaceDir;
    this.#canSee = context.canSee;
  }

  async execute(action: Action, call: ToolCall) {
    const [verb, ...rest] = (action as ThinkAction).thought.split(":");
    const argument = rest.join(":");
    await appendFile(join(this.#workspaceDir, "runs.log"), `${argument}\n`);
    switch (verb) {
      case "hold":
        await this.#wait(argument, call.signal);
        break;
      case "stubborn":
        await this.#wait(argument, undefined);
        break;
      case "progress":
        call.onProgress(argument);
        call.onProgress(argument);
        break;
      case "refuse":
        throw new ToolInputError(argument);
      case "fail":
        throw new Error(argument);
    }
    if (verb === "sees") return observed([textPart(String(this.#canSee))]);
    const content = verb === "picture" ? [imagePart(argument)] : [textPart(argument)];
    return observed(content);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #wait(name: string, signal: AbortSignal | undefined): Promise<void> {
    while (!(await exists(join(this.#workspaceDir, `${name}.go`)))) {
      await sleep(2, undefined, signal === undefined ? {} : { signal });
    }
  }
}

function observed(content: NonNullable<ThinkObservation["content"]>): ThinkObservation {
  return { kind: "ThinkObservation", content, is_error: false };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
