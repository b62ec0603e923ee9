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
    sections.set(name, [...(sections.get(name) ?? []), glance]);
  }
  return order.flatMap((name) => {
    const members = sections.get(name);
    return members === undefined ? [] : [{ name, glances: members }];
  });
}

function sectionOf({ status, updatedAt, isPinned }: Glance, now: Date): SectionName {
  if (status === "waiting_for_confirmation") return "asks";
  if (isPinned) return "pinned";
  return status === "running" ? "works" : dayOf(updatedAt, now);
}
