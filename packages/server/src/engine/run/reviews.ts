import type { ViewEvent } from "../../agent/history-view.ts";
import { reviewAction, type Review, type ReviewQuestion } from "../../agent/review-action.ts";
import { describeError } from "../../lib/describe-error.ts";
import { severalAtOnce } from "../../lib/several-at-once.ts";
import { isWithinRisk } from "../../security/risk-order.ts";
import { decideByRules } from "../../security/rules/decide-by-rules.ts";
import { ruleLine } from "../../security/rules/describe-rule.ts";
import type { RuledCall } from "../../security/rules/rule.ts";
import { awaiting, callOf, decideReview, reviewBegun } from "../commands/approvals.ts";
import type { ConversationConfig } from "../conversation-config.ts";
import type { ReviewAnswer } from "../ports.ts";
import type { OpenAction } from "../state/conversation-state.ts";
import { isWanted, type RunDeps } from "./run-deps.ts";
import type { RunRules } from "./run-rules.ts";
import { storeEvents } from "./store-events.ts";

type Reviewer = NonNullable<NonNullable<ConversationConfig["approval_policy"]>["reviewer"]>;

type Asked = { readonly action: OpenAction; readonly call: RuledCall };

/** Of one answer of the agent; one with more is left to the person. */
const maxActions = 20;
const maxAtOnce = 4;
/** The newest messages of the user, and rules, as far as they go in. */
const maxTaskCharacters = 20_000;
const maxRuleCharacters = 10_000;

/** A sub-agent's task is written by another model, so a reviewer cannot hold its actions against the words of a person. */
function reviewerOf({ approval_policy: policy, parent }: ConversationConfig): Reviewer | null {
  return parent === undefined ? (policy?.reviewer ?? null) : null;
}

export function hasReviewer(config: ConversationConfig): boolean {
  return reviewerOf(config) !== null;
}

/** The reviews of one run: a model is asked about actions that wait, before a person is. See record 0253. */
export class Reviews {
  readonly #deps: RunDeps;
  readonly #signal: AbortSignal;
  readonly #rules: RunRules;
  #leaving = new AbortController();
  #isOpen = false;

  constructor(deps: RunDeps, signal: AbortSignal, rules: RunRules) {
    this.#deps = deps;
    this.#signal = signal;
    this.#rules = rules;
  }

  /** True while the model is asked. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Ends what is in progress without an answer. */
  leave(): void {
    this.#leaving.abort();
  }

  /** The actions about which the reviewer is to be asked, each once; call inside the mailbox. */
  async due(): Promise<readonly OpenAction[]> {
    const { configuration, log } = this.#deps;
    const reviewer = reviewerOf(configuration.config);
    if (reviewer === null) return [];
    const waiting = awaiting(log.state).filter(({ review }) => review === undefined);
    if (waiting.length > maxActions) return [];
    const found = await Promise.all(waiting.map(async ({ id }) => (await log.find(id))?.meta.reviewable));
    return waiting.filter((_, index) => {
      const risk = found[index]?.risk;
      return risk !== undefined && isWithinRisk(risk, reviewer.up_to);
    });
  }

  /** Asks about the actions and stores the answers. That it asks is stored before. */
  async make(actions: readonly OpenAction[]): Promise<void> {
    const reviewer = reviewerOf(this.#deps.configuration.config);
    if (reviewer === null) return;
    let signal = this.#signal;
    let asked: readonly Asked[] = [];
    let view: readonly ViewEvent[] = [];
    await storeEvents(this.#deps, this.#signal, async () => {
      asked = isWanted(this.#deps, signal) ? await this.#waiting(actions) : [];
      // A run may go on after a pause: only one that comes from now on ends this review.
      this.#leaving = new AbortController();
      signal = AbortSignal.any([this.#signal, this.#leaving.signal]);
      view = await this.#deps.log.view();
      return asked.length === 0 ? [] : [reviewBegun(asked.map(({ action }) => action))];
    });
    if (asked.length === 0) return;
    this.#isOpen = true;
    try {
      const reviews = await this.#ask(asked, reviewer.llm, { task: taskOf(view), signal });
      await this.#record(asked, reviews, { profile: reviewer.llm, signal });
    } finally {
      this.#isOpen = false;
    }
  }

  async #waiting(actions: readonly OpenAction[]): Promise<readonly Asked[]> {
    const { configuration, log, rules } = this.#deps;
    const places = rules.places(configuration.config);
    const waiting = awaiting(log.state).filter(({ id }) => actions.some((action) => action.id === id));
    const found = await Promise.all(
      waiting.map(async (action) => {
        const stored = await log.find(action.id);
        const call = stored === null ? null : callOf(stored, places);
        return call === null
          ? []
          : [{ action, call: { ...call, risk: stored!.meta.reviewable?.risk ?? call.risk } }];
      }),
    );
    return found.flat();
  }

  /** By the action's id; an action without an answer is missing. */
  async #ask(
    asked: readonly Asked[],
    profile: string,
    { task, signal }: { readonly task: readonly string[]; readonly signal: AbortSignal },
  ): Promise<ReadonlyMap<string, Review>> {
    const reviews = new Map<string, Review>();
    const { rules } = await this.#rules.current();
    // The project's file may be written by a stranger, who could speak to the reviewer in it.
    const lines = bounded(
      rules.filter(({ source }) => source !== "project").map(ruleLine),
      maxRuleCharacters,
    );
    await severalAtOnce(asked, maxAtOnce, async ({ action: { id }, call }) => {
      const { toolName, action, risk } = call;
      const question: ReviewQuestion = { actionId: id, toolName, action, risk, task, rules: lines };
      const review = await this.#answerTo(question, profile, signal);
      if (review !== null) reviews.set(id, review);
    });
    return reviews;
  }

  /** Null when it was aborted. */
  async #answerTo(question: ReviewQuestion, profile: string, signal: AbortSignal): Promise<Review | null> {
    const no = (reason: string): Review => ({ isAllowed: false, reason, model: null });
    try {
      const llm = await this.#deps.models.findStored(profile);
      if (llm === null) return no(`There is no model profile named ${JSON.stringify(profile)}.`);
      return await reviewAction(question, this.#deps.models.openHelper("reviewer-llm", llm), signal);
    } catch (error) {
      // The person is asked, and reads why.
      return no(`The model could not be asked: ${describeError(error)}`);
    }
  }

  /** Nothing when the run was halted meanwhile: the person is asked. A rule that was made meanwhile counts. */
  async #record(
    asked: readonly Asked[],
    reviews: ReadonlyMap<string, Review>,
    { profile, signal }: { readonly profile: string; readonly signal: AbortSignal },
  ): Promise<void> {
    const { id, log, rules } = this.#deps;
    const current = await this.#rules.current();
    const model = [...reviews.values()].find((review) => review.model !== null)?.model ?? null;
    const answers = asked.flatMap(({ action, call }): ReviewAnswer[] => {
      const review = reviews.get(action.id);
      if (review === undefined) return [];
      const effect = decideByRules(current.rules, call).decision?.effect;
      const isRuled = effect === "deny" || effect === "ask";
      const reason = isRuled ? "A rule was made meanwhile that does not allow it." : review.reason;
      return [{ action_id: action.id, accept: review.isAllowed && !isRuled, reason }];
    });
    let isStored = false;
    await storeEvents(this.#deps, this.#signal, async () => {
      const drafts = isWanted(this.#deps, signal)
        ? decideReview(log.state, { model, profile, answers }, await this.#covered())
        : [];
      isStored = drafts.length > 0;
      return drafts;
    });
    if (isStored) rules.auditReview({ conversation: id, model, profile, answers });
  }

  /** Actions that wait only because others of the same answer do. */
  async #covered(): Promise<ReadonlySet<string>> {
    const { log } = this.#deps;
    const ids = awaiting(log.state).map(({ id }) => id);
    const effects = await Promise.all(ids.map(async (id) => (await log.find(id))?.meta.decidedBy?.effect));
    return new Set(ids.filter((_, index) => effects[index] === "allow"));
  }
}

/** What the user wrote, oldest first; the newest as far as there is room. */
function taskOf(view: readonly ViewEvent[]): readonly string[] {
  const texts = view.flatMap(({ event }) => {
    if (event.kind !== "MessageEvent" || event.source !== "user") return [];
    return [
      (event.llm_message.content ?? []).flatMap((part) => ("text" in part ? [part.text] : [])).join("\n"),
    ];
  });
  return bounded(texts.toReversed(), maxTaskCharacters).toReversed();
}

/** The first texts that fit together; the first one that does not is cut. */
function bounded(texts: readonly string[], maxCharacters: number): readonly string[] {
  let left = maxCharacters;
  return texts.flatMap((one) => {
    const shown = one.slice(0, Math.max(0, left));
    left -= one.length;
    return shown === "" ? [] : [shown];
  });
}
