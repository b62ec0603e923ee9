import { randomUUID } from "node:crypto";
import { formatInstant } from "../../lib/instant.ts";
import { nextUuid7 } from "../../lib/uuid7.ts";
import type { ModelPart } from "../../models/model.ts";
import { createStreamMask } from "../../security/mask.ts";
import type { Signals } from "../signals.ts";
import { secretValues, sparedTexts } from "../secret-values.ts";
import type { RunDeps } from "./run-deps.ts";

type StreamedPart = Extract<ModelPart, { type: "text" | "reasoning" | "tool-arguments" }>;

/** The target of a delta: the text, the reasoning, or the arguments of one call. */
type Item = {
  readonly type: "text" | "reasoning" | "tool_call";
  readonly index: number;
  readonly name?: string;
};

/** How an attempt ended: its answer was stored, or its partial answer after an abort, or nothing. */
export type DeltaEnd =
  | { readonly outcome: "done"; readonly llmResponseId: string }
  | { readonly outcome: "cut" | "void" };

/**
 * The frames of one attempt at an answer. Contract clients get text and reasoning; subscribers with items also get
 * the arguments of calls, and for each delta its attempt, item and index (L23.20). A secret that spans several
 * deltas is masked too (P13).
 */
export class DeltaStream {
  readonly #signals: Pick<Signals, "emitDelta">;
  readonly #secretValues: readonly string[];
  readonly #spared: readonly string[];
  readonly #answerId = randomUUID();
  readonly #items = new Map<string, { readonly item: Item; readonly mask: Mask }>();
  #seq = 0;

  constructor(
    signals: Pick<Signals, "emitDelta">,
    secretValues: readonly string[],
    spared: readonly string[] = [],
  ) {
    this.#signals = signals;
    this.#secretValues = secretValues;
    this.#spared = spared;
  }

  push(part: StreamedPart): void {
    const item = itemOf(part);
    const key = `${item.type} ${item.index}`;
    let known = this.#items.get(key);
    if (known === undefined) {
      known = { item, mask: createStreamMask(this.#secretValues, this.#spared) };
      this.#items.set(key, known);
    }
    this.#give(item, known.mask.push(part.text));
  }

  /** Sends the text that was held back because it might become a secret, then the end. */
  end(end: DeltaEnd): void {
    for (const { item, mask } of this.#items.values())
      this.#give(item, end.outcome === "done" ? mask.flush() : mask.cut());
    if (this.#items.size === 0) return;
    this.#emit(null, {
      kind: "AnswerEnd",
      outcome: end.outcome,
      llm_response_id: end.outcome === "done" ? end.llmResponseId : null,
    });
  }

  #give(item: Item, text: string): void {
    if (text === "") return;
    const plain = item.type === "tool_call" ? null : deltaFrame(item.type, text);
    this.#emit(plain, { kind: "AnswerDelta", item, text });
  }

  #emit(plain: string | null, { kind, ...fields }: Readonly<Record<string, unknown>>): void {
    this.#seq += 1;
    const identity = { kind, answer_id: this.#answerId, seq: this.#seq };
    this.#signals.emitDelta(plain, JSON.stringify({ ...identity, ...fields }));
  }
}

/** The frames of an answer of this conversation, for its callers. */
export function openDeltas({
  configuration,
  log,
  signals,
}: Pick<RunDeps, "configuration" | "log" | "signals">): DeltaStream {
  const { config, secrets } = configuration;
  const emitDelta = (plain: string | null, withItem: string): void => {
    if (!signals.hasListeners) return;
    // Masked again: secrets may have changed since the answer started.
    signals.emitDelta(plain === null ? null : log.mask(plain), log.mask(withItem));
  };
  return new DeltaStream({ emitDelta }, secretValues(secrets), sparedTexts(config));
}

type Mask = ReturnType<typeof createStreamMask>;

function itemOf(part: StreamedPart): Item {
  return part.type === "tool-arguments"
    ? { type: "tool_call", index: part.index, name: part.name }
    : { type: part.type, index: 0 };
}

/** A delta of the current answer, in contract form; broadcast only, never stored. */
function deltaFrame(type: "text" | "reasoning", text: string): string {
  const nowMs = Date.now();
  return JSON.stringify({
    id: nextUuid7(null, nowMs),
    timestamp: formatInstant(nowMs * 1000),
    source: "agent",
    ...(type === "text" ? { content: text } : { reasoning_content: text }),
    kind: "StreamingDeltaEvent",
  });
}
