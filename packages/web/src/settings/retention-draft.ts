import type { RetentionPolicy, RetentionRule } from "@convoke/protocol";

/** A rule as the form has it: texts, empty where a condition is not used. */
export type RuleDraft = {
  /** For the list of the form. */
  readonly key: number;
  readonly name: string;
  readonly olderDays: string;
  readonly idleDays: string;
  readonly largerMib: string;
  readonly tagKey: string;
  readonly tagValue: string;
};

export type PolicyDraft = { readonly trashDays: string; readonly rules: readonly RuleDraft[] };

/** What is wrong with a rule, by field; `rule` for all of it. */
export type RuleProblem = Partial<
  Record<"name" | "olderDays" | "idleDays" | "largerMib", "noName" | "noNumber">
> & { readonly rule?: "noCondition" };

export const numberFields = ["olderDays", "idleDays", "largerMib"] as const;

export function newRule(key: number): RuleDraft {
  return { key, name: "", olderDays: "", idleDays: "", largerMib: "", tagKey: "", tagValue: "" };
}

export function fromPolicy({ rules, trash_days: days }: RetentionPolicy): PolicyDraft {
  return {
    trashDays: shown(days),
    rules: rules.map((rule, key) => ({
      key,
      name: rule.name,
      olderDays: shown(rule.older_than_days),
      idleDays: shown(rule.idle_days),
      largerMib: shown(rule.larger_than_mib),
      tagKey: rule.tag?.key ?? "",
      tagValue: rule.tag?.value ?? "",
    })),
  };
}

/** Of a draft without problems. */
export function toPolicy({ trashDays, rules }: PolicyDraft): RetentionPolicy {
  return {
    rules: rules.map(toRule),
    ...(trashDays.trim() === "" ? {} : { trash_days: numberOf(trashDays) }),
  };
}

export function problemOf(rule: RuleDraft): RuleProblem {
  const numbers = numberFields.filter((field) => rule[field].trim() !== "");
  const wrong = numbers.filter((field) => !(numberOf(rule[field]) >= 0));
  return {
    ...(rule.name.trim() === "" ? { name: "noName" as const } : {}),
    ...Object.fromEntries(wrong.map((field) => [field, "noNumber" as const])),
    ...(numbers.length === 0 && rule.tagKey.trim() === "" ? { rule: "noCondition" as const } : {}),
  };
}

function toRule({ name, olderDays, idleDays, largerMib, tagKey, tagValue }: RuleDraft): RetentionRule {
  const key = tagKey.trim();
  return {
    name: name.trim(),
    ...(olderDays.trim() === "" ? {} : { older_than_days: numberOf(olderDays) }),
    ...(idleDays.trim() === "" ? {} : { idle_days: numberOf(idleDays) }),
    ...(largerMib.trim() === "" ? {} : { larger_than_mib: numberOf(largerMib) }),
    ...(key === "" ? {} : { tag: { key, ...(tagValue.trim() === "" ? {} : { value: tagValue.trim() }) } }),
  };
}

/** With a comma or a point. */
function numberOf(text: string): number {
  return Number(text.trim().replace(",", "."));
}

function shown(value: number | undefined): string {
  return value === undefined ? "" : String(value);
}
