import type { AskOracleAction } from "@convoke/protocol";
import { askOracle, oracleName, type Advice } from "../../agent/ask-oracle.ts";
import { hasOracle, oracleToolName } from "../../agent/tool-specs.ts";
import type { StoredModels } from "../tasks/sub-conversation.ts";
import { statelessSource, type OpenToolSource, type ToolPlace } from "../tool-source.ts";
import { listOwnTool, observeText } from "../own-tool.ts";

/**
 * A tool that asks the stored model named `oracle` for advice, recorded under a name of its own. It changes nothing, so after a crash it is
 * asked again.
 */
export function openOracle(models: StoredModels): OpenToolSource {
  return ({ config, context, ownerId }) => {
    if (!hasOracle(config.agent)) return null;
    return {
      ...statelessSource,
      tools: () => listings,
      owns: (tool) => tool === oracleToolName,
      execute: async ({ action }, { signal = new AbortController().signal } = {}) => {
        const advice = await ask(action as unknown as AskOracleAction, { models, ownerId, context }, signal);
        if (advice === null) return { type: "cancelled", text: "The call was stopped." };
        return observeText("AskOracleObservation", advice.text, advice.isError);
      },
    };
  };
}

type OracleDeps = Pick<ToolPlace, "context" | "ownerId"> & { readonly models: StoredModels };

async function ask(
  action: AskOracleAction,
  { models, ownerId, context }: OracleDeps,
  signal: AbortSignal,
): Promise<Advice | null> {
  const llm = await models.find(ownerId, oracleName);
  if (llm === null) {
    const text = `There is no model profile named "${oracleName}", so nobody can be asked. Go on by your own judgement; the person can store a profile under this name.`;
    return { text, isError: true };
  }
  return await askOracle(action, context.openHelper(oracleName, llm), signal);
}

const description = `Ask a stronger model for advice, when you are stuck, unsure which of several ways to go, or about to do something that is hard to undo.
It sees only your question and the context that you give, so put everything into them that it must know: the aim, what you tried, what happened, what you consider. Its answer is advice: follow it unless you know a reason not to.`;

const listings = [
  listOwnTool(oracleToolName, "AskOracle", description, {
    isReadOnly: true,
    isIdempotent: false,
    isOpen: true,
  }),
];
