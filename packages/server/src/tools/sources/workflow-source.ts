import { createHash } from "node:crypto";
import type { TaskObservation, WorkflowAction } from "@convoke/protocol";
import type { ExecuteOptions, ExecutionRequest, Outcome, ToolListing } from "@convoke/tool-host";
import { taskToolName } from "../../agent/task-tool-name.ts";
import { hasWorkflow } from "../../agent/tool-specs.ts";
import type { SubAgent } from "../../extensions/sub-agents/sub-agent.ts";
import { Slots } from "../../lib/slots.ts";
import { statelessSource, type OpenToolSource, type ToolSource } from "../tool-source.ts";
import { maxScriptChars, runScript, type AgentOrder, type ScriptEnd } from "../workflow/run-script.ts";
import { listOwnTool, observeText } from "../own-tool.ts";
import { findAgents, TaskSource, type TaskAccess } from "./task-source.ts";

const workflowToolName = "workflow";
/** Of one workflow; each is a conversation. */
const maxAgents = 200;
const maxMs = 3_600_000;

/** A tool that runs a script over sub-agents. */
export function openWorkflows(access: TaskAccess): OpenToolSource {
  return async (place) => {
    if (!hasWorkflow(place.context.config.agent)) return null;
    const agents = await findAgents(access, place);
    return agents === null
      ? null
      : createWorkflowSource(new TaskSource({ ...access, ...place, agents }), agents);
  };
}

/** `tasks` carries out what its scripts order, and closes with it. */
function createWorkflowSource(tasks: ToolSource, agents: readonly SubAgent[]): ToolSource {
  const kinds = agents.map(
    ({ name, description }) => `- ${name}: ${(description ?? "").trim().split("\n")[0]!.slice(0, 300)}`,
  );
  const listings = [
    listWorkflowTool(`Kinds for subagent_type; general-purpose unless given:\n${kinds.join("\n")}`),
  ];
  return {
    // What its agents have done is in their conversations.
    ...statelessSource,
    tools: () => listings,
    owns: (tool) => tool === workflowToolName,
    execute: async (request, options = {}) => await runWorkflow(tasks, request, options),
    [Symbol.asyncDispose]: () => tasks[Symbol.asyncDispose](),
  };
}

async function runWorkflow(
  source: ToolSource,
  { actionId, action }: ExecutionRequest,
  { signal }: ExecuteOptions,
): Promise<Outcome> {
  const { name, script, max_concurrency: maxConcurrency = 8 } = action as unknown as WorkflowAction;
  const over = new AbortController();
  const late = AbortSignal.timeout(maxMs);
  const stop = AbortSignal.any([over.signal, late, ...(signal === undefined ? [] : [signal])]);
  const tasks = new WorkflowTasks(source, actionId, maxConcurrency, stop);
  const end = await runScript(script, (order) => tasks.run(order), stop);
  // Agents that the script did not wait for are of no use to anybody.
  over.abort();
  await tasks.ended();
  if (end !== null) return observe(name, end);
  if (signal?.aborted === true) return { type: "cancelled", text: `The workflow ${name} was stopped.` };
  return observe(name, { isError: true, text: "The workflow was ended after an hour." });
}

/** The agents of one workflow. */
class WorkflowTasks {
  readonly #source: ToolSource;
  readonly #actionId: string;
  readonly #slots: Slots;
  readonly #signal: AbortSignal;
  readonly #running = new Set<Promise<unknown>>();
  readonly #ordered = new Map<string, number>();
  #failure: { readonly error: unknown } | null = null;
  #count = 0;

  constructor(source: ToolSource, actionId: string, maxConcurrency: number, signal: AbortSignal) {
    this.#source = source;
    this.#actionId = actionId;
    this.#slots = new Slots(maxConcurrency, signal);
    this.#signal = signal;
  }

  async run(order: AgentOrder): Promise<string> {
    this.#count += 1;
    if (this.#count > maxAgents) throw new Error(`A workflow has at most ${maxAgents} agents.`);
    const actionId = this.#idOf(order);
    const work = this.#execute(actionId, order);
    const settled = work.then(
      () => {},
      () => {},
    );
    this.#running.add(settled);
    void settled.then(() => this.#running.delete(settled));
    return await work;
  }

  /** Resolves when no agent is at work any more; throws what none of them can be blamed for. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #execute(actionId: string, { prompt, subagentType, description }: AgentOrder): Promise<string> {
    using _slot = await this.#slots.take();
    this.#signal.throwIfAborted();
    const action = { kind: "TaskAction", prompt, subagent_type: subagentType, description, resume: null };
    const request = { actionId, tool: taskToolName, action: action as never, secrets: [] };
    const outcome = await this.#source.execute(request, { signal: this.#signal }).catch((error: unknown) => {
      this.#failure ??= { error };
      throw error;
    });
    if (outcome.type !== "observation") throw new Error(outcome.text);
    const { content = [], is_error: isError } = outcome.observation as unknown as TaskObservation;
    const texts = content.flatMap((part) => ("text" in part ? [part.text] : []));
    if (isError === true) throw new Error(texts.join(" "));
    // The first says which task it was.
    return texts.slice(1).join("\n\n");
  }

  /** A workflow that is run again after a crash finds the agents that it had, in whatever order they are asked for. */
  #idOf({ prompt, subagentType }: AgentOrder): string {
    const digest = createHash("sha256")
      .update(JSON.stringify([subagentType, prompt]))
      .digest("hex")
      .slice(0, 16);
    const number = (this.#ordered.get(digest) ?? 0) + 1;
    this.#ordered.set(digest, number);
    return `${this.#actionId}:${digest}:${number}`;
  }
}

function observe(name: string, { isError, text }: ScriptEnd): Outcome {
  const shown = text === "" ? "It ended without a result." : text;
  const words = isError ? `The workflow ${name} failed. ${shown}` : shown;
  const status = isError ? "error" : "completed";
  return observeText("WorkflowObservation", words, isError, { name, status });
}

const description = `Run a short JavaScript program that directs several sub-agents, and get what it returns. Use it where many pieces of work are alike, or go through the same steps; for one piece give a task.

The script defines async function main(wf) and has at most ${maxScriptChars} characters. It can do nothing but direct agents: it has no files, commands, network, modules or timers. The agents have tools; each starts without anything of this conversation, so its prompt says all that it must know.

- await wf.run_agent(prompt, {subagent_type, description}): the last message of a sub-agent. Throws when it fails.
- await wf.map_agents(items, prompt, {subagent_type, max_concurrency}): one agent for each item, results in their order. prompt is a function of the item, or a text with {item}. Waits for all, then throws one error that lists what failed.
- await wf.pipeline(items, ...stages): each item goes through the stages without waiting for the others; a stage is a function (value, item, index), or a text with {item}. null for an item that fails.
- await wf.reduce_agent(items, prompt): one agent reads all items, as JSON of at most 12,000 characters.
- wf.flatten(items): one level of lists less.

What main returns is the result: return only what you need.`;

function listWorkflowTool(kinds: string): ToolListing {
  const hints = { isReadOnly: false, isIdempotent: false, isOpen: true };
  return listOwnTool(workflowToolName, "Workflow", `${description}\n\n${kinds}`, hints);
}
