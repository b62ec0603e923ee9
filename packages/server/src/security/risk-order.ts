import type { SecurityRisk } from "@convoke/protocol";

/** An unknown risk counts as MEDIUM: a user that lets only LOW pass has not agreed to it. */
const ranks: Readonly<Record<SecurityRisk, number>> = { LOW: 0, UNKNOWN: 1, MEDIUM: 1, HIGH: 2 };

/** Whether a risk is at most the highest that is covered; MEDIUM unless given. */
export function isWithinRisk(risk: SecurityRisk, upTo: SecurityRisk = "MEDIUM"): boolean {
  return ranks[risk] <= ranks[upTo];
}
