import { dollars, type OwnBudget } from "./own-budget.ts";
import type { Ledger } from "./ledger.ts";
import type { Hold } from "./hold-rows.ts";
import type { SpendHolds } from "./spend-holds.ts";

/** A model call that needs a budget. Amounts are US dollars. */
export type Purchase = {
  readonly userId: string;
  readonly conversationId: string;
  /** The maximum cost of the call; infinite when unknown. */
  readonly maxCost: number;
  /** Called at each check. */
  readonly conversation: () => OwnBudget;
};

/** `refused` says which budget is used up. */
export type Admission =
  | { readonly type: "admitted"; readonly release: () => void }
  | { readonly type: "refused"; readonly detail: string }
  | { readonly type: "aborted" };

type Budget = {
  readonly limit: number;
  readonly spent: number;
  readonly isShared: (other: Purchase) => boolean;
  readonly refusal: (limit: number, spent: number) => string;
};

/**
 * Budget guard: serialises model calls where two at once could exceed a budget. A call begins when the amount spent
 * plus the maximum cost of the calls in progress is below the limit, so a budget is exceeded by at most the last call
 * (P48). Calls without a budget never wait.
 */
export class BudgetGuard {
  readonly #ledger: Ledger;
  readonly #holds: SpendHolds;
  readonly #inProgress = new Set<Purchase>();
  readonly #waiting = new Set<() => void>();
  #released = 0;

  constructor(ledger: Ledger, holds: SpendHolds) {
    this.#ledger = ledger;
    this.#holds = holds;
  }

  get ledger(): Ledger {
    return this.#ledger;
  }

  /** The message about the budget that is used up; null while every budget has money left. */
  async refusal(purchase: Omit<Purchase, "maxCost">): Promise<string | null> {
    return refusalOf(await this.#budgets(purchase));
  }

  /** Resolves when the call is admitted or refused. An admitted caller records the cost first and then releases. */
  async admit(purchase: Purchase, signal: AbortSignal): Promise<Admission> {
    for (;;) {
      if (signal.aborted) return { type: "aborted" };
      const released = this.#released;
      const budgets = await this.#budgets(purchase);
      if (budgets.length > 0) await this.#ledger.untilDurable();
      // A call that ended meanwhile has recorded its cost and is no longer in progress: the amounts read may lack it.
      if (released !== this.#released || signal.aborted) continue;
      const detail = refusalOf(budgets);
      if (detail !== null) return { type: "refused", detail };
      if (budgets.every((budget) => this.#leaves(budget))) {
        this.#inProgress.add(purchase);
        const admission = await this.#hold(purchase, signal);
        if (admission !== null) return admission;
      }
      await this.#nextRelease(signal);
    }
  }

  async #budgets({
    userId,
    conversationId,
    conversation,
  }: Omit<Purchase, "maxCost">): Promise<readonly Budget[]> {
    const budgets: Budget[] = [];
    const { limit, spent } = conversation();
    if (limit !== null) {
      budgets.push({
        limit,
        spent: Math.max(spent, await this.#ledger.spentIn(conversationId)),
        isShared: (other) => other.conversationId === conversationId,
        refusal: (max, cost) =>
          `The conversation has cost ${dollars(cost)}, its budget is ${dollars(max)}. Raise the budget, then call run to continue.`,
      });
    }
    const dayLimit = this.#ledger.dayLimit(userId);
    if (dayLimit !== null) {
      budgets.push({
        limit: dayLimit,
        spent: await this.#ledger.spentToday(userId),
        isShared: (other) => other.userId === userId,
        refusal: (max, cost) =>
          `All conversations of this user have cost ${dollars(cost)} today, the budget of a day is ${dollars(max)}. ` +
          "Raise it or wait until midnight UTC, then call run to continue.",
      });
    }
    return budgets;
  }

  #leaves({ limit, spent, isShared }: Budget): boolean {
    const pending = [...this.#inProgress].filter(isShared).reduce((sum, { maxCost }) => sum + maxCost, 0);
    return spent + pending < limit;
  }

  /** Null when calls at other nodes may use up the rest of the day's budget. */
  async #hold(purchase: Purchase, signal: AbortSignal): Promise<Admission | null> {
    const limit = this.#ledger.dayLimit(purchase.userId);
    let hold: Hold | null = null;
    try {
      hold = limit === null ? nothingHeld : await this.#holds.take({ ...purchase, limit });
    } finally {
      if (hold === null) this.#inProgress.delete(purchase);
    }
    if (hold === null) return null;
    const release = (): void => {
      hold.release();
      this.#release(purchase);
    };
    if (!signal.aborted) return { type: "admitted", release };
    release();
    return { type: "aborted" };
  }

  #release(purchase: Purchase): void {
    this.#inProgress.delete(purchase);
    this.#released += 1;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** Other nodes do not publish the end of their calls, so the budget is checked again after a moment. */
  async #nextRelease(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const onAbort = (): void => resolve();
    this.#waiting.add(resolve);
    signal.addEventListener("abort", onAbort);
    const timer = setTimeout(resolve, recheckMs);
    await promise;
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
    this.#waiting.delete(resolve);
  }
}

const nothingHeld: Hold = { release: () => {} };
const recheckMs = 500;

function refusalOf(budgets: readonly Budget[]): string | null {
  const used = budgets.find(({ limit, spent }) => spent >= limit);
  return used === undefined ? null : used.refusal(used.limit, used.spent);
}
