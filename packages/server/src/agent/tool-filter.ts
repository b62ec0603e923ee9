import type { Agent } from "@convoke/protocol";
import { compilePattern, PatternTooSlow, type ForeignPattern } from "../lib/foreign-pattern.ts";

/**
 * Which tools an agent's `filter_tools_regex` leaves; null when it has none. Lookarounds are taken, because the default agent of
 * the official SDK sends one; there is one filter for an agent. Throws `PatternRefused`.
 */
export function openToolFilter(agent: Pick<Agent, "filter_tools_regex">): ForeignPattern | null {
  const { filter_tools_regex: source } = agent;
  return source ? compilePattern(source, { anchor: "start", allowsLookaround: true }) : null;
}

/** Whether a filter leaves a tool. A tool on which it comes to no end is left out: a filter takes away what must not be used. */
export function isLeft(
  filter: ForeignPattern | null,
  name: string,
  onTooSlow: () => void = () => {},
): boolean {
  try {
    return filter === null || filter.test(name);
  } catch (error) {
    if (!(error instanceof PatternTooSlow)) throw error;
    onTooSlow();
    return false;
  }
}
