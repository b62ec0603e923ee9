import type { Event } from "@convoke/protocol";
import { objectOr, type JsonObject } from "../lib/json-object.ts";
import { callOf, resultOf, stepOf, stepOfAction, type AtifMetrics, type AtifStep } from "./atif-step.ts";

/** The version of the format that is written. Source: RFC 0001 of the Harbor project. */
const atifVersion = "ATIF-v1.7";

export type AtifAbout = {
  readonly id: string;
  readonly title: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly model: string | null;
  readonly version: string;
};

/** A conversation as a trajectory, as JSON text that is written while the events are read. */
export async function* toAtif(about: AtifAbout, events: AsyncIterable<Event>): AsyncGenerator<string> {
  const { id, title, tags, model, version } = about;
  const head = { schema_version: atifVersion, session_id: id, trajectory_id: id };
  const agent = { name: "convoke", version, ...(model === null ? {} : { model_name: model }) };
  yield `${JSON.stringify(head).slice(0, -1)},"agent":${JSON.stringify(agent)},"steps":[`;
  const steps = new AtifSteps();
  let separator = "\n";
  const write = (step: AtifStep): string => {
    const text = `${separator}${JSON.stringify(step)}`;
    separator = ",\n";
    return text;
  };
  for await (const event of events) for (const step of steps.add(event)) yield write(step);
  for (const step of steps.end()) yield write(step);
  const extra = { title, tags };
  yield `\n],"final_metrics":${JSON.stringify(steps.totals())},"extra":${JSON.stringify(extra)}}\n`;
}

type Open = {
  readonly step: AtifStep;
  readonly responseId: string | null;
  /** Calls without a result, by their id, with the events that they are. */
  readonly calls: Map<string, string>;
};

/** Builds steps of events. A step is given once every call in it has its result and another step has begun. */
class AtifSteps {
  #open: Open[] = [];
  #count = 0;
  /** What model calls cost that no step has named yet, by response id. */
  readonly #metrics = new Map<string, AtifMetrics>();
  readonly #before = new Map<string, AtifMetrics>();

  add(event: Event): AtifStep[] {
    if (event.kind === "ConversationStateUpdateEvent") {
      if (event.key === "stats") this.#note(objectOr(objectOr(event.value)["usage_to_metrics"]));
      return [];
    }
    if (event.kind === "ActionEvent") this.#addCall(event);
    else if (!this.#addResult(event)) {
      const draft = stepOf(event);
      const responseId = event.kind === "MessageEvent" ? (event.llm_response_id ?? null) : null;
      if (draft !== null) this.#begin(draft, responseId);
    }
    return this.#take(1);
  }

  /** All that are left; calls without a result have none. */
  end(): AtifStep[] {
    for (const { calls } of this.#open) calls.clear();
    // The format wants one step at least.
    if (this.#count === 0)
      this.#begin({ source: "system", message: "The conversation has no messages yet.", extra: {} }, null);
    return this.#take(0);
  }

  totals(): JsonObject {
    const all = [...this.#before.values()];
    const sum = (field: keyof AtifMetrics): number => all.reduce((total, one) => total + one[field], 0);
    return {
      total_prompt_tokens: sum("prompt_tokens"),
      total_completion_tokens: sum("completion_tokens"),
      total_cached_tokens: sum("cached_tokens"),
      total_cost_usd: sum("cost_usd"),
      total_steps: this.#count,
    };
  }

  #begin(draft: Omit<AtifStep, "step_id">, responseId: string | null): Open {
    this.#count += 1;
    const opened = { step: { step_id: this.#count, ...draft }, responseId, calls: new Map<string, string>() };
    this.#open.push(opened);
    return opened;
  }

  #addCall(event: Extract<Event, { kind: "ActionEvent" }>): void {
    const known = this.#open.find(({ responseId }) => responseId === event.llm_response_id);
    const { step, calls } = known ?? this.#begin(stepOfAction(event), event.llm_response_id);
    step.tool_calls = [...(step.tool_calls ?? []), callOf(event)];
    calls.set(event.id!, event.tool_call_id);
  }

  #addResult(event: Event): boolean {
    const result = resultOf(event);
    if (result === null) return false;
    const { action_id: actionId, tool_call_id: callId } = event as Event & {
      readonly action_id?: string;
      readonly tool_call_id: string;
    };
    for (const { step, calls } of this.#open) {
      const found = [...calls].find(([id, call]) =>
        actionId === undefined ? call === callId : id === actionId,
      );
      if (found === undefined) continue;
      calls.delete(found[0]);
      const results = [...(step.observation?.results ?? []), { source_call_id: found[1], ...result }];
      step.observation = { results };
      return true;
    }
    const timestamp = event.timestamp === undefined ? {} : { timestamp: event.timestamp };
    const lone = { ...timestamp, source: "system" as const, message: "", observation: { results: [result] } };
    this.#begin({ ...lone, extra: { kind: event.kind } }, null);
    return true;
  }

  /** Totals grow with each call; what they grew by is that of the answer that they name. */
  #note(byUsage: JsonObject): void {
    for (const [usageId, value] of Object.entries(byUsage)) {
      const usage = objectOr(objectOr(value)["accumulated_token_usage"]);
      const now: AtifMetrics = {
        prompt_tokens: numberOf(usage["prompt_tokens"]),
        completion_tokens: numberOf(usage["completion_tokens"]),
        cached_tokens: numberOf(usage["cache_read_tokens"]),
        cost_usd: numberOf(objectOr(value)["accumulated_cost"]),
      };
      const before = this.#before.get(usageId) ?? nothing;
      this.#before.set(usageId, now);
      const grown = lessBy(now, before);
      if (typeof usage["response_id"] === "string" && grown !== null)
        this.#metrics.set(usage["response_id"], grown);
    }
  }

  #take(left: number): AtifStep[] {
    const taken: AtifStep[] = [];
    while (this.#open.length > left && this.#open[0]!.calls.size === 0) {
      const { step, responseId } = this.#open.shift()!;
      const metrics = responseId === null ? undefined : this.#metrics.get(responseId);
      if (responseId !== null) this.#metrics.delete(responseId);
      taken.push(metrics === undefined ? step : { ...step, metrics });
    }
    return taken;
  }
}

const nothing: AtifMetrics = { prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, cost_usd: 0 };

/** Null where nothing grew, or where the totals began again. */
function lessBy(now: AtifMetrics, before: AtifMetrics): AtifMetrics | null {
  const grown = {
    prompt_tokens: now.prompt_tokens - before.prompt_tokens,
    completion_tokens: now.completion_tokens - before.completion_tokens,
    cached_tokens: now.cached_tokens - before.cached_tokens,
    cost_usd: now.cost_usd - before.cost_usd,
  };
  const values = Object.values(grown);
  return values.some((value) => value > 0) && values.every((value) => value >= 0) ? grown : null;
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
