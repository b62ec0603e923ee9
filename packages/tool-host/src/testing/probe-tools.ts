import { access, appendFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Action, ThinkAction } from "@convoke/protocol";
import { ToolInputError } from "../tool.ts";
import type { Tool, ToolCall, ToolContext, ToolInstance } from "../tool.ts";
import { annotate, defineTool } from "../tools/define-tool.ts";
import { imagePart, textPart } from "../tools/observation-content.ts";

/**
 * Tools whose thought is a script, `verb` or `verb:argument`. Their effects are files of the workspace, so a test sees
 * them from another process too: every run appends its argument to `runs.log`.
 *
 * `say:text` answers with the text; `picture:text` with an image address; `hold:name` waits for the file `name.go` or the
 * abort; `stubborn:name` ignores the abort; `progress:text` reports the text twice; `refuse:text` and `fail:text` throw.
 */
export const probeTools: readonly Tool[] = [
  probe("probe", false),
  probe("second_probe", false),
  probe("reader", true),
  { ...probe("broken", false), open: () => Promise.reject(new Error("no such device: hunter2-secret")) },
];

function probe(name: string, isReadOnly: boolean): Tool {
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
    open: async (context) => new Probe(context),
  };
}

class Probe implements ToolInstance {
  readonly #workspaceDir: string;

  constructor(context: ToolContext) {
    this.#workspaceDir = context.workspaceDir;
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
    const content = verb === "picture" ? [imagePart(argument)] : [textPart(argument)];
    return { kind: "ThinkObservation", content, is_error: false } as const;
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #wait(name: string, signal: AbortSignal | undefined): Promise<void> {
    while (!(await exists(join(this.#workspaceDir, `${name}.go`)))) {
      await sleep(2, undefined, signal === undefined ? {} : { signal });
    }
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
