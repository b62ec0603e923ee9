import type { AskOracleAction, LLM, ToolDefinition } from "@convoke/protocol";
import type { ExecuteOptions, ExecutionRequest, Outcome, ToolListing, ToolSession } from "@convoke/tool-host";
import { askOracle, oracleName, type Advice } from "../../agent/ask-oracle.ts";
import { oracleToolName } from "../../agent/tool-specs.ts";
import { withMethods } from "../../lib/with-methods.ts";
import type { Model } from "../../models/model.ts";

export type OracleDeps = {
  /** The stored model of this name; null when there is none. */
  readonly findModel: (name: string) => Promise<LLM | null>;
  /** A model whose calls are booked under a name of their own. */
  readonly openHelper: (usageId: string, other: LLM) => Model;
};

/** A session with a tool that asks the stored model named `oracle` for advice. It changes nothing, so after a crash it is asked again. */
export function withOracle(session: ToolSession, deps: OracleDeps): ToolSession {
  return withMethods(session, {
    get tools() {
      return [...session.tools, listing];
    },
    execute: async (request: ExecutionRequest, options: ExecuteOptions = {}): Promise<Outcome> => {
      if (request.tool !== oracleToolName) return await session.execute(request, options);
      const signal = options.signal ?? new AbortController().signal;
      const advice = await ask(request.action as unknown as AskOracleAction, deps, signal);
      if (advice === null) return { type: "cancelled", text: "The call was stopped." };
      const observation = {
        kind: "AskOracleObservation",
        content: [{ type: "text", text: advice.text, cache_prompt: false }],
        is_error: advice.isError,
      };
      return { type: "observation", observation: observation as never };
    },
  });
}

async function ask(
  action: AskOracleAction,
  { findModel, openHelper }: OracleDeps,
  signal: AbortSignal,
): Promise<Advice | null> {
  const llm = await findModel(oracleName);
  if (llm === null) {
    const text = `There is no model profile named "${oracleName}", so nobody can be asked. Go on by your own judgement; the person can store a profile under this name.`;
    return { text, isError: true };
  }
  return await askOracle(action, openHelper(oracleName, llm), signal);
}

const definition = {
  kind: "AskOracleTool" as const,
  title: oracleToolName,
  description: `Ask a stronger model for advice, when you are stuck, unsure which of several ways to go, or about to do something that is hard to undo.
It sees only your question and the context that you give, so put everything into them that it must know: the aim, what you tried, what happened, what you consider. Its answer is advice: follow it unless you know a reason not to.`,
  action_type: "AskOracleAction",
  observation_type: "AskOracleObservation",
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true },
};

const listing: ToolListing = {
  name: oracleToolName,
  actionKind: "AskOracleAction",
  isReadOnly: true,
  definition: definition as unknown as ToolDefinition,
};
