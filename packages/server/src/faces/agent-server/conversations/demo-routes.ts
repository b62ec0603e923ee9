import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { StartConversationRequest } from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import { demoAddress, demoModel, demoTag, type Demo } from "../../../directory/demo.ts";
import type { Directory } from "../../../directory/directory.ts";
import type { Caller } from "../../../security/caller.ts";
import type { RouteHandler } from "../../../http/mount.ts";
import { Fault } from "../../../lib/fault.ts";
import type { RequireMachine } from "../../../workspaces/machine-policy.ts";
import { readStartRequest, type Start } from "./start-request.ts";

export type DemoRouteDeps = {
  /** Null when the server was started without a demo. */
  readonly demo: Demo | null;
  readonly directory: Pick<Directory, "create" | "open" | "search" | "stateDir">;
  readonly validator: Validator;
  readonly requireMachine: RequireMachine;
};

/**
 * Starts a demo conversation: its model is scripted, everything else is real. It asks for one approval, before it
 * changes a file.
 */
export function demoHandlers({ demo, directory, validator, requireMachine }: DemoRouteDeps) {
  const starting = new Set<string>();

  async function isPlaying(caller: Caller): Promise<boolean> {
    for (const executionStatus of ["running", "waiting_for_confirmation"]) {
      const { items } = await directory.search(caller, {
        sort: "UPDATED_AT_DESC",
        limit: 100,
        executionStatus,
      });
      if (items.some(({ config }) => config.tags[demoTag] !== undefined)) return true;
    }
    return false;
  }

  function startOf(given: Demo, conversationId: string, folder: string): Start {
    const checked = validator.check<StartConversationRequest>(
      StartConversationRequest,
      {
        conversation_id: conversationId,
        title: given.title,
        tags: { [demoTag]: "true" },
        agent: {
          kind: "Agent",
          llm: { model: demoModel, base_url: demoAddress, usage_id: "agent" },
          tools: [{ name: "terminal" }, { name: "file_editor" }],
        },
        workspace: { kind: "LocalWorkspace", working_dir: folder },
        confirmation_policy: { kind: "ConfirmRisky", threshold: "MEDIUM", confirm_unknown: false },
        security_analyzer: { kind: "LLMSecurityAnalyzer" },
        initial_message: { role: "user", content: [{ type: "text", text: given.task }] },
      },
      ["body"],
    );
    if (!checked.ok) throw new Error(`The demo is no request: ${JSON.stringify(checked.errors)}`);
    return readStartRequest(checked.value, true);
  }

  async function start(given: Demo, caller: Caller): Promise<string> {
    const id = randomUUID();
    const home = directory.stateDir(id);
    const folder = join(home, "project");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      await given.writeProject(folder);
      const request = startOf(given, id, folder);
      await directory.create(caller, { id, ...request });
      const conversation = await directory.open(caller, id);
      await conversation.send({ message: request.initialMessage!, wantsRun: true });
    } catch (error) {
      await rm(home, { recursive: true, force: true });
      throw error;
    }
    return id;
  }

  return {
    async startDemo({ caller }) {
      if (demo === null)
        throw new Fault("missing", "no_demo", "This server has no demo. Start it with: convoke.");
      requireMachine(caller.userId);
      if (starting.has(caller.userId)) throw isPlayed();
      starting.add(caller.userId);
      try {
        if (await isPlaying(caller)) throw isPlayed();
        return { status: 201, json: { conversation_id: await start(demo, caller) } };
      } finally {
        starting.delete(caller.userId);
      }
    },
  } satisfies Record<string, RouteHandler>;
}

function isPlayed(): Fault {
  return new Fault(
    "conflict",
    "demo_in_progress",
    "A demo of yours is not at its end yet. Watch it, or delete it.",
  );
}
