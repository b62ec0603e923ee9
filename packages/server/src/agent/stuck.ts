import type { Event } from "@convoke/protocol";
import type { ViewEvent } from "./history.ts";

/** How many repetitions count as going nowhere. Source: reference, agent-loop 12 and 25. */
const limits = { samePair: 4, sameErrors: 4, monologue: 3, alternation: 6, window: 20 } as const;

type Step = { readonly action: string; readonly result: string | null; readonly isError: boolean };

/** True when the newest events repeat themselves: since the last user message and since `fromSeq`, the start of the run. */
export function isStuck(view: readonly ViewEvent[], fromSeq: number): boolean {
  const window: Event[] = [];
  for (let index = view.length - 1; index >= 0 && window.length < limits.window; index--) {
    const { seq, event } = view[index]!;
    if (seq < fromSeq || (event.kind === "MessageEvent" && event.source === "user")) break;
    window.unshift(event);
  }
  const steps = toSteps(window);
  return repeatsPair(steps) || repeatsError(steps) || isMonologue(window) || alternates(steps);
}

function repeatsPair(steps: readonly Step[]): boolean {
  const last = steps.slice(-limits.samePair);
  return last.length === limits.samePair && last.every((step) => sameStep(step, last[0]!));
}

function repeatsError(steps: readonly Step[]): boolean {
  const last = steps.slice(-limits.sameErrors);
  return (
    last.length === limits.sameErrors && last.every((step) => step.isError && step.action === last[0]!.action)
  );
}

function isMonologue(window: readonly Event[]): boolean {
  let count = 0;
  for (const event of window.toReversed()) {
    if (event.kind !== "MessageEvent") return false;
    if (event.source === "agent" && ++count === limits.monologue) return true;
  }
  return false;
}

function alternates(steps: readonly Step[]): boolean {
  const last = steps.slice(-limits.alternation);
  return (
    last.length === limits.alternation &&
    !sameStep(last[0]!, last[1]!) &&
    last.every((step, index) => index < 2 || sameStep(step, last[index - 2]!))
  );
}

function sameStep(left: Step, right: Step): boolean {
  return left.result !== null && left.action === right.action && left.result === right.result;
}

/** Each action with its result; ids, thoughts and summaries are left out, so that they cannot hide a repetition. */
function toSteps(window: readonly Event[]): Step[] {
  const results = new Map<string, { text: string; isError: boolean }>();
  for (const event of window) {
    if (event.kind === "ObservationEvent") {
      results.set(event.tool_call_id, { text: JSON.stringify(event.observation), isError: false });
    } else if (event.kind === "AgentErrorEvent") {
      results.set(event.tool_call_id, { text: event.error, isError: true });
    } else if (event.kind === "UserRejectObservation") {
      results.set(event.tool_call_id, { text: event.rejection_reason ?? "", isError: false });
    }
  }
  return window.flatMap((event) => {
    if (event.kind !== "ActionEvent") return [];
    const result = results.get(event.tool_call_id);
    const action = `${event.tool_name} ${event.action ? JSON.stringify(event.action) : event.tool_call.arguments}`;
    return [{ action, result: result?.text ?? null, isError: result?.isError === true }];
  });
}
