import { AcpFailure } from "../../extensions/acp/acp-failure.ts";
import { stateUpdate } from "../../events/state-update.ts";
import { Fault } from "../../lib/fault.ts";
import type { LazySession } from "../lazy-session.ts";
import type { SharedParts } from "../shared-parts.ts";
import { sessionEvents, shownModels } from "./acp-events.ts";

export type SwitchModelDeps = Pick<SharedParts, "configuration" | "log" | "queue"> & {
  readonly session: Pick<LazySession, "open">;
};

const switchMs = 60_000;

/**
 * Has the other agent use a model from now on, and in later sessions; the agent is started where it is not at work. Fails for a
 * conversation without one, and for a model that it does not have (400), and where it does not answer (504).
 */
export async function switchAcpModel(model: string, deps: SwitchModelDeps): Promise<void> {
  const { configuration, log, queue, session } = deps;
  const { agent } = configuration.config;
  if (agent.acp === undefined)
    throw new Fault(
      "unusable",
      "no_acp_agent",
      "The agent of this conversation has a model of this server. Use switch_llm or switch_profile.",
    );
  const other = (await session.open()).agent;
  if (other === null) throw new Error("The conversation has no other agent.");
  const late = AbortSignal.timeout(switchMs);
  try {
    const known = log.state.acp.session?.session_id ?? agent.acp.acp_resume_session_id ?? null;
    const opened = await other.openSession(known, late, model);
    const isIt = opened.models.current === model;
    const models = isIt ? opened.models : await other.setModel(model, late);
    await queue.post(async () => {
      const isKnown = log.state.acp.session?.session_id === opened.id;
      const { session: facts } = log.state.acp;
      await log.append(
        isKnown
          ? [stateUpdate("acp_session", { ...facts, ...shownModels(models) })]
          : sessionEvents({ ...opened, models }, other.command),
      );
    });
  } catch (error) {
    if (late.aborted)
      throw new Fault(
        "timeout",
        "acp_agent_late",
        `The agent "${other.command}" did not answer within ${switchMs / 1000} s.`,
      );
    if (error instanceof AcpFailure) throw new Fault("unusable", "acp_model_refused", error.message);
    throw error;
  }
  await configuration.change({ agent: { ...agent, acp: { ...agent.acp, acp_model: model } } });
}
