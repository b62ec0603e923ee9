import type {
  ExecuteOptions,
  ExecutionRequest,
  ExecutionState,
  Outcome,
  ToolListing,
  ToolSession,
} from "@convoke/tool-host";
import type { ToolBelt } from "../engine/tool-belt.ts";
import type { ToolSource } from "./tool-source.ts";

export type BeltDeps = Pick<ToolBelt, "skills"> & {
  /** Owned by the belt. A call goes to the last one that owns its tool, and to the first where none does. */
  readonly sources: readonly [ToolSource, ...ToolSource[]];
  /** What people use besides the agent. */
  readonly workspace: Pick<ToolSession, "terminals" | "attach" | "attachBrowser">;
  /** Null unless given. */
  readonly agent?: ToolBelt["agent"];
};

/** The tools of a conversation: sources in a row, and each call routed by the name of its tool. */
export class Belt implements ToolBelt {
  readonly skills: ToolBelt["skills"];
  readonly agent: ToolBelt["agent"];
  readonly terminals: ToolBelt["terminals"];
  readonly attach: ToolBelt["attach"];
  readonly attachBrowser: ToolBelt["attachBrowser"];
  readonly #sources: BeltDeps["sources"];
  readonly #opened = new AsyncDisposableStack();
  #lists: readonly (readonly ToolListing[])[] = [];
  #tools: readonly ToolListing[] = [];

  constructor({ sources, workspace, skills, agent = null }: BeltDeps) {
    this.#sources = sources;
    this.terminals = () => workspace.terminals();
    this.attach = (...given) => workspace.attach(...given);
    this.attachBrowser = (...given) => workspace.attachBrowser(...given);
    this.skills = skills;
    this.agent = agent;
    for (const source of sources) this.#opened.use(source);
  }

  /** In the order of the sources; the same array until the list of one of them changes. */
  get tools(): readonly ToolListing[] {
    const lists = this.#sources.map((source) => source.tools());
    if (lists.some((list, index) => list !== this.#lists[index])) {
      this.#lists = lists;
      this.#tools = lists.flat();
    }
    return this.#tools;
  }

  async ready(...given: Parameters<ToolBelt["ready"]>): Promise<void> {
    await Promise.all(this.#sources.map((source) => source.ready(...given)));
  }

  async execute(request: ExecutionRequest, options: ExecuteOptions = {}): Promise<Outcome> {
    return await this.#ownerOf(request.tool).execute(request, options);
  }

  /** Of the last source that knows the call. */
  async state(actionId: string): Promise<ExecutionState> {
    for (const source of this.#sources.toReversed()) {
      const known = await source.state(actionId);
      if (known.type !== "unknown") return known;
    }
    return { type: "unknown" };
  }

  announce(actionId: string, tool: string): void {
    this.#ownerOf(tool).announce(actionId, tool);
  }

  async cancel(actionId: string): Promise<void> {
    await Promise.all(this.#sources.map((source) => source.cancel(actionId)));
  }

  /** The last source first: what was opened over others is closed before them. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }

  #ownerOf(tool: string): ToolSource {
    return this.#sources.findLast((source) => source.owns(tool)) ?? this.#sources[0];
  }
}
