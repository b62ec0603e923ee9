import type { ToolDefinition } from "@convoke/protocol";
import type {
  ExecuteOptions,
  ExecutionRequest,
  ExecutionState,
  Outcome,
  TerminalInfo,
  BrowserUpdate,
  TerminalUpdate,
  ToolListing,
  ToolSession,
} from "@convoke/tool-host";
import { untilSettled, type SettlingSession } from "../mcp/mcp-session.ts";
import { locationOf, noSkills, type SkillBook } from "./skill-book.ts";

const toolName = "invoke_skill";

/** A session that knows the conversation's skills, with a tool that loads them where there is one to load. */
export function withSkills(session: ToolSession, book: SkillBook): ToolSession {
  return book.skills.length === 0 ? session : new SkillSession(session, book);
}

/** The skills of a session. */
export function skillsOf(session: ToolSession): SkillBook {
  return session instanceof SkillSession ? session.book : noSkills;
}

/** Loading a skill changes nothing and needs nothing of the workspace: it is answered here, again after a restart if need be. */
class SkillSession implements ToolSession {
  readonly book: SkillBook;
  readonly #base: ToolSession;

  constructor(base: ToolSession, book: SkillBook) {
    this.#base = base;
    this.book = book;
  }

  get tools(): readonly ToolListing[] {
    return this.book.invocable.length === 0 ? this.#base.tools : [...this.#base.tools, listing];
  }

  /** Only there where the base session has it: its tools may not be complete from the start. */
  async untilSettled(...given: Parameters<SettlingSession["untilSettled"]>): Promise<void> {
    await untilSettled(this.#base, ...given);
  }

  async execute(request: ExecutionRequest, options?: ExecuteOptions): Promise<Outcome> {
    if (request.tool !== toolName) return await this.#base.execute(request, options);
    const { name = "" } = request.action as { name?: string };
    return { type: "observation", observation: this.#observe(name) as never };
  }

  async state(actionId: string): Promise<ExecutionState> {
    return await this.#base.state(actionId);
  }

  announce(actionId: string, tool: string): void {
    this.#base.announce?.(actionId, tool);
  }

  async cancel(actionId: string): Promise<void> {
    await this.#base.cancel(actionId);
  }

  async terminals(): Promise<readonly TerminalInfo[]> {
    return await this.#base.terminals();
  }

  attach(...given: Parameters<ToolSession["attach"]>): AsyncIterable<TerminalUpdate> {
    return this.#base.attach(...given);
  }

  attachBrowser(...given: Parameters<ToolSession["attachBrowser"]>): AsyncIterable<BrowserUpdate> {
    return this.#base.attachBrowser(...given);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#base[Symbol.asyncDispose]();
  }

  #observe(name: string) {
    const skill = this.book.invocable.find((item) => item.name === name.trim());
    const names = this.book.invocable.map((item) => item.name).join(", ");
    const text =
      skill === undefined
        ? `There is no skill ${JSON.stringify(name)} that can be loaded. Available: ${names}.`
        : skill.content + locationOf(skill);
    return {
      kind: "InvokeSkillObservation",
      content: [{ type: "text", text }],
      is_error: skill === undefined,
      skill_name: skill?.name ?? name,
    };
  }
}

const definition = {
  kind: "InvokeSkillTool" as const,
  title: toolName,
  description:
    "Load the notes of one of the available skills by its name. Do this before the work that they are about.",
  action_type: "InvokeSkillAction",
  observation_type: "InvokeSkillObservation",
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

const listing: ToolListing = {
  name: toolName,
  actionKind: "InvokeSkillAction",
  isReadOnly: true,
  definition: definition as unknown as ToolDefinition,
};
