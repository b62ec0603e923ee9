/** The budget and the cost of a conversation in US dollars, by its own log; the limit is null when it has none. */
export type OwnBudget = { readonly limit: number | null; readonly spent: number };

export function dollars(amount: number): string {
  return `$${amount.toFixed(4)}`;
}
