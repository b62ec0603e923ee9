import type { RetentionFacts, RetentionRule } from "@convoke/protocol";
import { readConfig } from "../engine/read-config.ts";
import { UnknownPageError, type ConversationRow, type Journal } from "../journal/journal.ts";
import { itemsOfPages } from "../lib/items-of-pages.ts";
import { isTrashOwner } from "../lib/trash-owner.ts";

export type Match = {
  readonly row: ConversationRow;
  readonly rule: RetentionRule;
  readonly facts: RetentionFacts;
  /** The facts in words. */
  readonly why: string;
};

export type MatchDeps = {
  readonly journal: Pick<Journal, "getConversation" | "searchConversations" | "sizeOf">;
  readonly nowMs: number;
};

const dayMicros = 86_400_000_000;
const bytesOfMebibyte = 1024 * 1024;

/** The rule without any condition would fit everything. */
export function hasCondition(rule: RetentionRule): boolean {
  return Object.entries(rule).some(([field, value]) => field !== "name" && value !== undefined);
}

/**
 * The conversations that a rule fits, of one owner or of all; the longest unused first where the rule says how long, so that no more is
 * read than fits. One that is a part of another goes with that.
 */
export async function* findMatches(
  { journal, nowMs }: MatchDeps,
  rule: RetentionRule,
  ownerId: string | undefined,
): AsyncGenerator<Match> {
  const nowMicros = nowMs * 1000;
  const sort = rule.idle_days === undefined ? "CREATED_AT" : "UPDATED_AT";
  const days = rule.idle_days ?? rule.older_than_days;
  const lastMicros = days === undefined ? Infinity : nowMicros - days * dayMicros;
  const query = { ownerId, sort, limit: 100 } as const;
  try {
    for await (const row of itemsOfPages((pageId) => journal.searchConversations({ ...query, pageId }))) {
      const at = sort === "UPDATED_AT" ? row.updatedAtMicros : row.createdAtMicros;
      if (at > lastMicros) return;
      const facts = await fit(journal, rule, row, nowMicros);
      if (facts !== null) yield { row, rule, facts, why: describe(facts) };
    }
  } catch (error) {
    // The row at which the next page begins is gone: the next run goes on.
    if (!(error instanceof UnknownPageError)) throw error;
  }
}

/** Why the rule fits; null where it does not. */
async function fit(
  journal: MatchDeps["journal"],
  rule: RetentionRule,
  row: ConversationRow,
  nowMicros: number,
): Promise<RetentionFacts | null> {
  if (!hasCondition(rule) || isTrashOwner(row.ownerId)) return null;
  const { older_than_days: older, idle_days: idle, larger_than_mib: larger, tag } = rule;
  const facts: RetentionFacts = {};
  if (older !== undefined) {
    const age = (nowMicros - row.createdAtMicros) / dayMicros;
    if (age < older) return null;
    facts.age_days = age;
  }
  if (idle !== undefined) {
    const unused = (nowMicros - row.updatedAtMicros) / dayMicros;
    if (unused < idle) return null;
    facts.unused_days = unused;
  }
  if (tag !== undefined) {
    const tags = readConfig(row)?.tags ?? {};
    const value = Object.hasOwn(tags, tag.key) ? tags[tag.key] : undefined;
    if (value === undefined || (tag.value !== undefined && value !== tag.value)) return null;
    facts.tag = { key: tag.key, value };
  }
  if (larger !== undefined) {
    const size = (await journal.sizeOf(row.id)) / bytesOfMebibyte;
    if (size <= larger) return null;
    facts.size_mib = size;
  }
  const isPart = row.parentId !== null && (await journal.getConversation(row.parentId)) !== null;
  return isPart ? null : facts;
}

function describe({ age_days: age, unused_days: unused, tag, size_mib: size }: RetentionFacts): string {
  return [
    ...(age === undefined ? [] : [`${age.toFixed(1)} days old`]),
    ...(unused === undefined ? [] : [`${unused.toFixed(1)} days unused`]),
    ...(tag === undefined ? [] : [`has the tag ${tag.key}=${tag.value}`]),
    ...(size === undefined ? [] : [`${size.toFixed(1)} MiB`]),
  ].join(", ");
}
