import type { RetentionRule } from "@convoke/protocol";
import { readConfig } from "../engine/read-config.ts";
import { UnknownPageError, type ConversationRow, type Journal } from "../journal/journal.ts";
import { itemsOfPages } from "../lib/items-of-pages.ts";
import { isTrashOwner } from "../lib/trash-owner.ts";

export type Match = { readonly row: ConversationRow; readonly rule: RetentionRule; readonly why: string };

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
      const why = await fit(journal, rule, row, nowMicros);
      if (why !== null) yield { row, rule, why };
    }
  } catch (error) {
    // The row at which the next page begins is gone: the next run goes on.
    if (!(error instanceof UnknownPageError)) throw error;
  }
}

/** Why the rule fits, in words; null where it does not. */
async function fit(
  journal: MatchDeps["journal"],
  rule: RetentionRule,
  row: ConversationRow,
  nowMicros: number,
): Promise<string | null> {
  if (!hasCondition(rule) || isTrashOwner(row.ownerId)) return null;
  const { older_than_days: older, idle_days: idle, larger_than_mib: larger, tag } = rule;
  const reasons: string[] = [];
  if (older !== undefined) {
    const age = (nowMicros - row.createdAtMicros) / dayMicros;
    if (age < older) return null;
    reasons.push(`${age.toFixed(1)} days old`);
  }
  if (idle !== undefined) {
    const unused = (nowMicros - row.updatedAtMicros) / dayMicros;
    if (unused < idle) return null;
    reasons.push(`${unused.toFixed(1)} days unused`);
  }
  if (tag !== undefined) {
    const tags = readConfig(row)?.tags ?? {};
    const value = Object.hasOwn(tags, tag.key) ? tags[tag.key] : undefined;
    if (value === undefined || (tag.value !== undefined && value !== tag.value)) return null;
    reasons.push(`has the tag ${tag.key}=${value}`);
  }
  if (larger !== undefined) {
    const size = (await journal.sizeOf(row.id)) / bytesOfMebibyte;
    if (size <= larger) return null;
    reasons.push(`${size.toFixed(1)} MiB`);
  }
  const isPart = row.parentId !== null && (await journal.getConversation(row.parentId)) !== null;
  return isPart ? null : reasons.join(", ");
}
