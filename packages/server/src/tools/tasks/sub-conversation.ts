import type { LLM, MetricsSnapshot, SubAgentInfo } from "@convoke/protocol";
import type { ToolHost } from "@convoke/tool-host";
import type { Journal } from "../../journal/journal.ts";
import { hideSecrets } from "../../settings/secret-fields.ts";
import { wait } from "../../lib/wait.ts";
import type { Conversation } from "../../engine/conversation.ts";
import {
  splitLlmSecrets,
  type ConversationConfig,
  type ConversationSecrets,
} from "../../engine/conversation-config.ts";
import { combinedMetrics, type ConversationInfoSource } from "../../engine/state/conversation-info.ts";
import type { Asker, CreateInput } from "../../engine/create-input.ts";
import { readFinalResponse } from "../../engine/commands/final-response.ts";
import { readWork } from "./read-work.ts";
import { subAgentConfig } from "./sub-agent-config.ts";
import type { SubTaskEnd } from "./task-tool.ts";
import type { TaskWorktrees } from "../worktrees/task-worktrees.ts";
import type { Worktree } from "../../engine/worktree.ts";
import { idOfTask } from "./task-ids.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";

/** The models that users have stored, keys included. */
export interface StoredModels {
  /** Null when this user has none of the name. */
  find(ownerId: string, name: string): Promise<LLM | null>;
}

/** What sub-agents need of the directory, which is where their conversations are. */
export type SubConversationDeps = {
  readonly directory: {
    create(asker: Asker, input: CreateInput): Promise<ConversationInfoSource | null>;
    open(asker: Asker, id: string): Promise<Conversation>;
    describe(asker: Asker, id: string): Promise<ConversationInfoSource | null>;
  };
  readonly journal: Pick<Journal, "onAppend" | "search">;
  readonly worktrees: TaskWorktrees;
  readonly storedModels: StoredModels;
};

export type SubTask = {
  readonly parentId: string;
  readonly ownerId: string;
  readonly config: ConversationConfig;
  readonly secrets: ConversationSecrets;
  readonly actionId: string;
  readonly agent: SubAgentInfo;
  readonly prompt: string;
  readonly title: string;
  /** An earlier task to resume; null for a new one. */
  readonly resume: string | null;
  /** In a git worktree of its own, where there is a repository. */
  readonly hasWorktree: boolean;
  /** Where its tools run. */
  readonly toolHost: ToolHost;
  /** US dollars that this task may have cost when it ends, all its turns together; null without a limit. */
  readonly budget: number | null;
};

/** An order that cannot be carried out; the message is for the model. */
export class TaskRefusedError extends Error {
  override readonly name = "TaskRefusedError";
}

/** How often the state of a sub-agent is polled, in case its notifications end, e.g. because its conversation was deleted. */
const pollMs = 2_000;

/**
 * The conversation of one task. Its id follows from the call that ordered it and the call's id is the message's, so that after a
 * crash the same call finds the work where it is and orders nothing twice.
 */
export class SubConversation {
  readonly id: string;
  readonly #deps: SubConversationDeps;
  readonly #task: SubTask;

  constructor(deps: SubConversationDeps, task: SubTask) {
    this.#deps = deps;
    this.#task = task;
    this.id = task.resume ?? idOfTask(task.parentId, task.actionId);
  }

  /** Creates or finds the conversation and sends it the order. Rejects with {@link TaskRefusedError} when the order is invalid. */
  async begin(): Promise<void> {
    const { directory } = this.#deps;
    const { budget, prompt, actionId } = this.#task;
    if (this.#task.resume === null) await this.#create();
    await this.#checkParent();
    const child = await directory.open(this.#asker, this.id);
    if (
      this.#task.resume !== null &&
      child.configuration.config.worktree !== undefined &&
      child.state.status !== "running"
    )
      await this.#deps.worktrees.renew(this.#task.toolHost, child.configuration.config.worktree);
    if (this.#task.resume !== null && (child.configuration.config.max_budget_per_task ?? null) !== budget) {
      await child.configuration.change({ max_budget_per_task: budget });
    }
    const content = [{ type: "text" as const, text: prompt, cache_prompt: false }];
    await child.send({
      message: { role: "user", content, thinking_blocks: [] },
      wantsRun: true,
      clientMessageId: actionId,
    });
    // The process that both runs belonged to has ended, and somebody asked for the other one again.
    if (child.state.status === "paused" && child.state.isAttended) await child.run();
  }

  /** Resolves when the run has ended, whoever helped it on, or when the signal aborts; `onStatus` gets each new status. */
  async ended(signal: AbortSignal, onStatus: (status: string) => void): Promise<SubTaskEnd | null> {
    let rung = new AbortController();
    const stopListening = this.#deps.journal.onAppend(this.id, () => rung.abort());
    let reported = "";
    try {
      while (!signal.aborted) {
        rung = new AbortController();
        const status = (await this.#describe())?.state.status ?? "deleting";
        if (status !== reported) onStatus((reported = status));
        if (!goesOn.has(status)) return await this.#end(status);
        await wait(pollMs, AbortSignal.any([signal, rung.signal]));
      }
      return null;
    } finally {
      stopListening();
    }
  }

  /** Where it works, if that is a worktree of its own. */
  async worktree(): Promise<Worktree | null> {
    return (await this.#describe())?.config.worktree ?? null;
  }

  /** Ends what is in progress. */
  async stop(): Promise<void> {
    await (await this.#deps.directory.open(this.#asker, this.id)).halts.stop();
  }

  /** What all model calls of the task have cost so far; null before the first. */
  async metrics(): Promise<MetricsSnapshot | null> {
    const described = await this.#describe();
    return described === null ? null : combinedMetrics(described.state);
  }

  get #asker(): Asker {
    return { userId: this.#task.ownerId };
  }

  async #describe(): Promise<ConversationInfoSource | null> {
    return await this.#deps.directory.describe(this.#asker, this.id);
  }

  async #create(): Promise<void> {
    const { agent, ownerId, title, parentId, actionId, budget, config, secrets } = this.#task;
    const isInherited = (agent.model ?? "inherit") === "inherit";
    const model = isInherited ? null : await this.#deps.storedModels.find(ownerId, agent.model ?? "");
    if (!isInherited && model === null) {
      throw new TaskRefusedError(
        `The sub-agent ${agent.name} wants the model profile ${agent.model}, which is not stored.`,
      );
    }
    const own = model === null ? null : splitLlmSecrets(model);
    const isGiven = agent.level === "programmatic";
    const mcp = isGiven ? secrets.sub_agents?.[agent.name] : (agent.mcp_config ?? undefined);
    const ownKeys = isGiven ? secrets.sub_agent_condensers?.[agent.name] : undefined;
    const condenser = agent.condenser ? ownKeys : secrets.condenser;
    const given = subAgentConfig(config, agent, own?.shown ?? null);
    await this.#deps.directory.create(this.#asker, {
      id: this.id,
      title,
      config: {
        ...given,
        wall_of: config.wall_of ?? {
          conversation_id: parentId,
          working_dir: config.workspace.working_dir,
        },
        agent: mcp === undefined ? given.agent : { ...given.agent, mcp_config: hideSecrets(mcp) },
        max_budget_per_task: budget,
        parent: { conversation_id: parentId, action_id: actionId },
      },
      secrets: withoutUndefined({
        llm: own?.secrets ?? secrets.llm,
        sources: secrets.sources,
        // It works behind the same wall.
        placeholders: secrets.placeholders,
        condenser,
        mcp,
      }),
      worktree: this.#task.hasWorktree ? { base: "head" } : null,
    });
  }

  /** Ids can be guessed, and a model may name any. */
  async #checkParent(): Promise<void> {
    const parent = (await this.#describe())?.config.parent;
    if (parent?.conversation_id === this.#task.parentId) return;
    throw new TaskRefusedError(
      `There is no task ${this.id} of this conversation. Give the id that an earlier result names, or leave resume out.`,
    );
  }

  async #end(status: string): Promise<SubTaskEnd> {
    const { journal } = this.#deps;
    if (status === "deleting") {
      return { status: "error", text: "", reason: "The conversation of the sub-agent was deleted." };
    }
    const answer = await readFinalResponse(journal, this.id);
    if (status === "finished") return { status: "completed", text: answer, reason: null };
    const text = [answer, await readWork(journal, this.id)].filter((part) => part !== "").join("\n\n");
    if (status === "stuck") {
      return { status: "error", text, reason: "The sub-agent repeated itself without getting anywhere." };
    }
    if (status === "idle") {
      return { status: "error", text, reason: "The order was not let through, so nothing was done." };
    }
    const page = await journal.search(this.id, {
      kind: "ConversationErrorEvent",
      order: "TIMESTAMP_DESC",
      limit: 1,
    });
    const detail = page.items.map((json) => (JSON.parse(json) as { detail?: string }).detail)[0];
    return { status: "error", text, reason: detail ?? "The run of the sub-agent failed." };
  }
}

/** The rest has an end, or needs nobody's answer. */
const goesOn: ReadonlySet<string> = new Set(["running", "paused", "waiting_for_confirmation"]);
