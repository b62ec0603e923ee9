import { dayOf, type Day } from "../lib/shown-times.ts";
import type { Glance } from "./glance.ts";

export type SectionName = "asks" | "pinned" | "works" | Day;

export type Section = { readonly name: SectionName; readonly glances: readonly Glance[] };

const order: readonly SectionName[] = ["asks", "pinned", "works", "today", "yesterday", "week", "older"];

/** The list in the order in which a person needs it. Tasks of sub-agents stand with the conversation that gave them, not here. */
export function sectionsOf(glances: readonly Glance[], filter: string, now: Date): readonly Section[] {
  const wanted = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const sections = new Map<SectionName, Glance[]>();
  for (const glance of glances) {
    const text = `${glance.title ?? ""} ${glance.workingDir ?? ""}`.toLowerCase();
    const isTask = glance.parentId !== null && glance.status !== "waiting_for_confirmation";
    if (isTask || !wanted.every((word) => text.includes(word))) continue;
    const name = sectionOf(glance, now);
    const members = sections.get(name);
    if (members === undefined) sections.set(name, [glance]);
    else members.push(glance);
  }
  return order.flatMap((name) => {
    const members = sections.get(name);
    return members === undefined ? [] : [{ name, glances: members }];
  });
}

/** The beginning of a list: so many conversations of it. */
export function beginningOf(sections: readonly Section[], count: number): readonly Section[] {
  let left = count;
  return sections.flatMap(({ name, glances }) => {
    const members = glances.slice(0, left);
    left -= members.length;
    return members.length === 0 ? [] : [{ name, glances: members }];
  });
}

function sectionOf({ status, updatedAt, isPinned }: Glance, now: Date): SectionName {
  if (status === "waiting_for_confirmation") return "asks";
  if (isPinned) return "pinned";
  return status === "running" ? "works" : dayOf(updatedAt, now);
}
