import { dollars, type OwnBudget } from "./own-budget.ts";
import type { Ledger } from "./ledger.ts";
import type { Hold, SpendHolds } from "./spend-holds.ts";

/** One model call that asks for money. Amounts are US dollars. */
export type Purchase = {
  readonly userId: string;
  readonly conversationId: string;
  /** What the call can cost at most; infinite where nobody knows. */
  readonly maxCost: number;
  /** Read anew each time. */
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
 * Lets model calls begin one after the other where two at once could overstep a budget: a call begins when everything spent
 * and everything that the calls in progress can still cost leaves some of it, so a budget is overstepped by at most the last
 * call (P48). Calls without a budget never wait.
 */
export class Purse {
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

  /** Which budget is used up at this moment; null while there is money. */
  async refusal(purchase: Omit<Purchase, "maxCost">): Promise<string | null> {
    return refusalOf(await this.#budgets(purchase));
  }

  /** Resolves when the call may begin or may not; whoever is admitted books first and then releases. */
  async admit(purchase: Purchase, signal: AbortSignal): Promise<Admission> {
    for (;;) {
      if (signal.aborted) return { type: "aborted" };
      const released = this.#released;
      const budgets = await this.#budgets(purchase);
      if (budgets.length > 0) await this.#ledger.untilDurable();
      // A call that ended meanwhile has booked what it cost, and is not in progress any more: what was read may lack it.
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
          `The conversation has cost ${dollars(cost)}, its budget is ${dollars(max)}. Raise the budget, then call run to go on.`,
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
          "Raise it or wait until midnight UTC, then call run to go on.",
      });
    }
    return budgets;
  }

  #leaves({ limit, spent, isShared }: Budget): boolean {
    const pending = [...this.#inProgress].filter(isShared).reduce((sum, { maxCost }) => sum + maxCost, 0);
    return spent + pending < limit;
  }

  /** Null where calls at other servers may use up what is left of the day. */
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

  /** Other servers do not tell when a call of theirs ends: it is looked again after a moment. */
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
