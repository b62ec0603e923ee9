import { dayOf, type Day } from "../lib/shown-times.ts";
import type { Summary } from "./summary.ts";

export type SectionName = "asks" | "pinned" | "works" | Day;

export type Section = { readonly name: SectionName; readonly summaries: readonly Summary[] };

const order: readonly SectionName[] = ["asks", "pinned", "works", "today", "yesterday", "week", "older"];

/**
 * The sections of the list, most urgent first. Tasks of sub-agents are not listed; they belong to their parent
 * conversation.
 */
export function sectionsOf(summaries: readonly Summary[], filter: string, now: Date): readonly Section[] {
  const wanted = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const sections = new Map<SectionName, Summary[]>();
  for (const summary of summaries) {
    const text = `${summary.title ?? ""} ${summary.workingDir ?? ""}`.toLowerCase();
    const isTask = summary.parentId !== null && summary.status !== "waiting_for_confirmation";
    if (isTask || !wanted.every((word) => text.includes(word))) continue;
    const name = sectionOf(summary, now);
    const members = sections.get(name);
    if (members === undefined) sections.set(name, [summary]);
    else members.push(summary);
  }
  return order.flatMap((name) => {
    const members = sections.get(name);
    return members === undefined ? [] : [{ name, summaries: members }];
  });
}

/** The first conversations of a list, at most `max`. */
export function beginningOf(sections: readonly Section[], count: number): readonly Section[] {
  let left = count;
  return sections.flatMap(({ name, summaries }) => {
    const members = summaries.slice(0, left);
    left -= members.length;
    return members.length === 0 ? [] : [{ name, summaries: members }];
  });
}

function sectionOf({ status, updatedAt, isPinned }: Summary, now: Date): SectionName {
  if (status === "waiting_for_confirmation") return "asks";
  if (isPinned) return "pinned";
  return status === "running" ? "works" : dayOf(updatedAt, now);
}
