import type { Critic, CriticResult } from "@convoke/protocol";
import type { EventBody, EventDraft } from "../../events/event-draft.ts";
import type { ViewEvent } from "../history-view.ts";
import { environmentMessage } from "../receive.ts";

/**
 * A model's answer with what the critic says of it: on the call of finish or the last message, or on every call. Where the critic
 * is not satisfied and may ask again, a message of the environment follows, so that the run goes on (L23.31). How often it
 * asked is counted again for each message of the user.
 */
export function criticised(
  drafts: readonly EventDraft[],
  critic: Critic | null | undefined,
  view: readonly ViewEvent[],
): EventDraft[] {
  if (critic === null || critic === undefined) return [...drafts];
  const isEveryAction = critic.mode === "all_actions";
  const judged = drafts.map((draft): EventDraft => {
    const { body } = draft;
    if (typeof body === "function" || !(isEnd(body) || (isEveryAction && body.kind === "ActionEvent")))
      return draft;
    if (isEveryAction && body.kind === "MessageEvent") return draft;
    const critic_result = judge(critic, view, body);
    return critic_result === null ? draft : { ...draft, body: { ...body, critic_result } as EventBody };
  });
  const end = judged.find(({ body }) => typeof body !== "function" && isEnd(body))?.body;
  const result = end !== undefined && "critic_result" in end ? end.critic_result : null;
  const again = result ? refinement(critic, result, view) : null;
  return again === null ? judged : [...judged, again];
}

/** The reference's defaults. */
const usual = { threshold: 0.6, rounds: 3 } as const;

function refinement(critic: Critic, result: CriticResult, view: readonly ViewEvent[]): EventDraft | null {
  const config = critic.iterative_refinement ?? null;
  if (config === null || result.score >= (config.success_threshold ?? usual.threshold)) return null;
  const round = roundsSoFar(view) + 1;
  if (round > (config.max_iterations ?? usual.rounds)) return null;
  const percent = Math.round(result.score * 100);
  const words =
    `A review of your work gives it ${percent} of 100. ${result.message ?? ""} Compare what you did with the request once more, ` +
    "mend what is missing, verify it, and finish again.";
  return environmentMessage(words.replace(/\s+/gu, " "), { refinement: round });
}

function roundsSoFar(view: readonly ViewEvent[]): number {
  for (const { event, meta } of view.toReversed()) {
    if (meta.refinement !== undefined) return meta.refinement;
    if (event.kind === "MessageEvent" && event.source === "user") return 0;
  }
  return 0;
}

/** Null when this critic cannot judge here. */
function judge(critic: Critic, view: readonly ViewEvent[], body: EventBody): CriticResult | null {
  switch (critic.kind) {
    case "PassCritic":
      return { score: 1, message: null };
    case "EmptyPatchCritic":
      return verdict(hasChange(view), "No file was changed.");
    case "AgentFinishedCritic":
      return hasChange(view)
        ? verdict(isFinish(body), "The work was not ended with finish.")
        : verdict(false, "No file was changed.");
    default:
      return null;
  }
}

function verdict(isGood: boolean, complaint: string): CriticResult {
  return { score: isGood ? 1 : 0, message: isGood ? null : complaint };
}

/** True when an editing tool changed a file since the user's last message; what shell commands changed is not seen. */
function hasChange(view: readonly ViewEvent[]): boolean {
  const last = view.findLastIndex(({ event }) => event.kind === "MessageEvent" && event.source === "user");
  return view.slice(last + 1).some(({ event }) => {
    if (event.kind !== "ObservationEvent" || event.observation.is_error === true) return false;
    const { observation } = event;
    if (observation.kind === "FileEditorObservation") return observation.command !== "view";
    return editingKinds.has(observation.kind);
  });
}

const editingKinds = new Set<string>(["ApplyPatchObservation", "EditObservation", "WriteFileObservation"]);

function isEnd(body: EventBody): boolean {
  return isFinish(body) || (body.kind === "MessageEvent" && body.source === "agent");
}

function isFinish(body: EventBody): boolean {
  return body.kind === "ActionEvent" && body.action?.kind === "FinishAction";
}
