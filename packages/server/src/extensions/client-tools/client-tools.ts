import { clientActionPrefix, type ClientToolSpec, type ToolDefinition } from "@convoke/protocol";
import type {
  ExecuteOptions,
  ExecutionRequest,
  ExecutionState,
  Outcome,
  ToolListing,
  ToolSession,
} from "@convoke/tool-host";

/** A session with the tools that a client carries out itself. */
export function withClientTools(session: ToolSession, specs: readonly ClientToolSpec[]): ToolSession {
  return specs.length === 0 ? session : new ClientToolSession(session, specs);
}

/**
 * The client acts on the ActionEvent. The wire has no way for it to answer, so the call is answered at once, which harms nothing when
 * it is done again after a crash: there is one ActionEvent, and one answer in the log.
 */
class ClientToolSession implements ToolSession {
  readonly tools: readonly ToolListing[];
  readonly #base: ToolSession;
  readonly #names: ReadonlySet<string>;

  constructor(base: ToolSession, specs: readonly ClientToolSpec[]) {
    this.#base = base;
    this.#names = new Set(specs.map(({ name }) => name));
    this.tools = [...base.tools, ...specs.map(listClientTool)];
  }

  async execute(request: ExecutionRequest, options?: ExecuteOptions): Promise<Outcome> {
    if (!this.#names.has(request.tool)) return await this.#base.execute(request, options);
    if (options?.signal?.aborted === true) return { type: "cancelled", text: "The call was stopped." };
    return { type: "observation", observation: handedOver as never };
  }

  async state(actionId: string): Promise<ExecutionState> {
    return await this.#base.state(actionId);
  }

  async cancel(actionId: string): Promise<void> {
    await this.#base.cancel(actionId);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#base[Symbol.asyncDispose]();
  }
}

const handedOver = {
  kind: "ClientToolObservation",
  content: [{ type: "text", text: "The call was handed to the client, which carries it out." }],
  is_error: false,
};

function listClientTool({ name, description, parameters, annotations = null }: ClientToolSpec): ToolListing {
  const schema = parameters ?? { type: "object", properties: {} };
  const actionKind = `${clientActionPrefix}${name}`;
  const definition = {
    kind: "ClientTool",
    title: annotations?.title || name,
    description,
    action_type: actionKind,
    observation_type: "ClientToolObservation",
    annotations,
    meta: null,
    client_tool_name: name,
    input_schema: schema,
  };
  return {
    name,
    actionKind,
    // The word of the client whose tool it is, unlike that of a stranger's MCP server.
    isReadOnly: annotations?.readOnlyHint === true,
    definition: definition as unknown as ToolDefinition,
    parameters: schema,
  };
}
