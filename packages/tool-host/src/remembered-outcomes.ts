import type { Outcome } from "./host.ts";

/** Maximum number of outcomes, and of characters of text in all of them. */
const usualLimits = { outcomes: 64, characters: 256 * 1024 } as const;

/** Outcomes in memory, by action id. The oldest are dropped first; the newest always stays. */
export class RememberedOutcomes {
  readonly #limits: { readonly outcomes: number; readonly characters: number };
  readonly #outcomes = new Map<string, { readonly outcome: Outcome; readonly characters: number }>();
  #characters = 0;

  constructor(limits: { readonly outcomes: number; readonly characters: number } = usualLimits) {
    this.#limits = limits;
  }

  get(actionId: string): Outcome | undefined {
    return this.#outcomes.get(actionId)?.outcome;
  }

  add(actionId: string, outcome: Outcome): void {
    this.#forget(actionId);
    const characters = charactersIn(outcome);
    this.#outcomes.set(actionId, { outcome, characters });
    this.#characters += characters;
    for (const oldest of this.#outcomes.keys()) {
      const { outcomes: maxOutcomes, characters: maxCharacters } = this.#limits;
      const isWithin = this.#outcomes.size <= maxOutcomes && this.#characters <= maxCharacters;
      if (isWithin || oldest === actionId) return;
      this.#forget(oldest);
    }
  }

  #forget(actionId: string): void {
    this.#characters -= this.#outcomes.get(actionId)?.characters ?? 0;
    this.#outcomes.delete(actionId);
  }
}

/** Number of characters of all texts, images included. */
function charactersIn(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, part) => sum + charactersIn(part), 0);
}
