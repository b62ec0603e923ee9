import type { AttemptContext } from "../answer.ts";
import type { Attempt, AttemptPart } from "../attempt.ts";
import type { FailureContext } from "../classify.ts";
import type { ModelRequest } from "../model.ts";
import { addressKey, type Address } from "./address.ts";
import { withLesson, type AddressRules, type Lesson } from "./address-rules.ts";
import { fitName } from "./fit-names.ts";
import { fitRequest } from "./fit-request.ts";
import { learn } from "./learn.ts";
import type { LessonStore } from "./lesson-store.ts";
import { readRefusal, type Refusal } from "./refusal.ts";
import { isFelt, adjustmentFor } from "./adjustment-for.ts";

export type AddressDeps = {
  readonly address: Address;
  readonly rules: AddressRules;
  readonly store: LessonStore;
  readonly failure: FailureContext;
};

/** Maximum number of lessons from one request; after that its refusal is final. */
const maxLessons = 16;

/** A provider may refuse one keyword or tool at a time; after this many, all that is odd goes at once. */
const singleLessons = 6;

type Learnt = { readonly lesson: Lesson; readonly excerpt: string };

/**
 * An attempt that is made for an address: it gets requests in the form that the address takes, and where one is refused it is made
 * again without what was refused. What helped is stored for later requests and reported with the answer.
 */
export function withAddress(attempt: Attempt, deps: AddressDeps): Attempt {
  let reading: Promise<Learnt[]> | undefined;
  return async function* (request, context) {
    const known = await (reading ??= readLessons(deps));
    let rules = known.reduce((before, { lesson }) => withLesson(before, lesson), deps.rules);
    const fresh: Learnt[] = [];
    let first: { readonly error: unknown } | null = null;
    while (true) {
      const progress = { isAnswer: false };
      try {
        for await (const part of attempt(fitRequest(request, rules, deps.address), context)) {
          if (part.type !== "spent") progress.isAnswer = true;
          if (part.type === "done") {
            yield* adjustmentsOf([...known, ...fresh], request, deps.address);
            await keep(fresh, known, deps);
          }
          yield withOwnNames(part, request);
        }
        return;
      } catch (error) {
        first ??= { error };
        const refusal =
          progress.isAnswer || isOver(request, context) ? null : readRefusal(error, deps.failure);
        const isLate = fresh.length >= singleLessons;
        const lesson =
          refusal === null || fresh.length >= maxLessons ? null : learn(refusal, request, rules, { isLate });
        // No lesson is left to try: the first refusal names the actual problem.
        if (refusal === null) throw error;
        if (lesson === null) throw first.error;
        rules = withLesson(rules, lesson);
        fresh.push({ lesson, excerpt: excerptOf(refusal) });
      }
    }
  };
}

async function readLessons({ store, address }: AddressDeps): Promise<Learnt[]> {
  return (await store.read(addressKey(address))).map((lesson) => ({ lesson, excerpt: "" }));
}

function isOver(request: ModelRequest, { signal }: AttemptContext): boolean {
  return signal.aborted || request.leaving?.aborted === true;
}

function excerptOf({ excerpt }: Refusal): string {
  return excerpt.length > 300 ? `${excerpt.slice(0, 300).toWellFormed()}…` : excerpt;
}

function* adjustmentsOf(
  lessons: readonly Learnt[],
  request: ModelRequest,
  address: Address,
): Generator<AttemptPart> {
  for (const { lesson, excerpt } of lessons)
    if (excerpt !== "" || isFelt(lesson, request))
      yield { type: "adjusted", adjustment: adjustmentFor(lesson, address, excerpt) };
}

const ofHistory = new Set<Lesson["kind"]>(["unsealed", "words", "plain-text"]);

/** Lessons about the history belong to the conversation and are not stored. */
async function keep(
  fresh: readonly Learnt[],
  known: Learnt[],
  { store, address }: AddressDeps,
): Promise<void> {
  if (fresh.length === 0) return;
  known.push(...fresh);
  const lasting = fresh.map(({ lesson }) => lesson).filter(({ kind }) => !ofHistory.has(kind));
  if (lasting.length > 0) await store.add(addressKey(address), lasting);
}

/** The model calls tools by the names that it was given; everybody else knows them by their own. */
function withOwnNames(part: AttemptPart, { tools }: ModelRequest): AttemptPart {
  if (part.type !== "tool-arguments" && part.type !== "done") return part;
  const ownName = (given: string): string =>
    tools.some(({ name }) => name === given)
      ? given
      : (tools.find(({ name }) => fitName(name) === given)?.name ?? given);
  if (part.type === "tool-arguments") return { ...part, name: ownName(part.name) };
  const { response } = part;
  const toolCalls = response.message.toolCalls.map((call) => ({ ...call, name: ownName(call.name) }));
  return { ...part, response: { ...response, message: { ...response.message, toolCalls } } };
}
