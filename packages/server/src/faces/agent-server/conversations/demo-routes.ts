import { randomUUID } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { StartConversationRequest, type demoRoutes } from "@convoke/protocol";
import { demoAddress, demoModel, demoTag, type Demo } from "../../../directory/demo.ts";
import type { Handlers } from "../../../http/mount.ts";
import type { Caller } from "../../../security/caller.ts";
import { Fault } from "../../../lib/fault.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { readStartRequest, type Start } from "./start-request.ts";

/**
 * Starts a demo conversation: its model is scripted, everything else is real. It asks for one approval, before it
 * changes a file.
 */
export function demoHandlers({ demo, directory, validator, requireMachine }: FaceDeps) {
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
  } satisfies Handlers<typeof demoRoutes>;
}

function isPlayed(): Fault {
  return new Fault(
    "conflict",
    "demo_in_progress",
    "A demo of yours is not at its end yet. Watch it, or delete it.",
  );
}
