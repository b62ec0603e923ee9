import type { Landmarks, MetricsSnapshot } from "@convoke/protocol";
import type { ConversationRow, Journal } from "../journal/journal.ts";
import { isWhole } from "../journal/shown-event.ts";
import { BoundedCache } from "../lib/bounded-cache.ts";

type Spent = Landmarks["spent"][number];
type Marks = {
  readonly createdAtMicros: number;
  /** The position up to which the log was read. */
  lastSeq: number;
  readonly branches: number[];
  /** The position of a task's first update, by task id. */
  readonly tasks: Map<string, number>;
  spent: Spent[];
  /** The newest spending of this many positions is stored. */
  width: number;
};

/** Yields to the event loop after this many positions. */
const span = 4_096;
const maxSpent = 400;
/** The maximum of cached conversations. */
const maxSpans = 8;

/**
 * Positions of navigations, of sub-agents' starts, and of spending, from state updates. Each update is read once: a
 * grown log is read from its previous end.
 */
export class UpdateMarks {
  readonly #journal: Pick<Journal, "readKinds">;
  readonly #known = new BoundedCache<Marks>(maxSpans);

  constructor(journal: Pick<Journal, "readKinds">) {
    this.#journal = journal;
  }

  async read({
    id,
    createdAtMicros,
    lastSeq,
  }: Pick<ConversationRow, "id" | "createdAtMicros" | "lastSeq">): Promise<
    Pick<Landmarks, "branches" | "tasks" | "spent">
  > {
    const earlier = this.#known.get(id);
    // A deleted conversation's id may be reused for another log.
    const marks = earlier?.createdAtMicros === createdAtMicros ? copyOf(earlier) : begin(createdAtMicros);
    while (marks.lastSeq < lastSeq) {
      const end = Math.min(lastSeq, marks.lastSeq + span);
      const stored = await this.#journal.readKinds(
        id,
        ["ConversationStateUpdateEvent"],
        marks.lastSeq + 1,
        end,
      );
      for (const { seq, json } of stored) take(marks, seq, json);
      marks.lastSeq = end;
    }
    this.#known.set(id, marks);
    const { branches, tasks, spent } = marks;
    return { branches: [...branches], tasks: [...tasks.values()], spent: [...spent] };
  }
}

function begin(createdAtMicros: number): Marks {
  return { createdAtMicros, lastSeq: 0, branches: [], tasks: new Map(), spent: [], width: 1 };
}

/** Concurrent readers add to their own copies. */
function copyOf(marks: Marks): Marks {
  return { ...marks, branches: [...marks.branches], tasks: new Map(marks.tasks), spent: [...marks.spent] };
}

function take(marks: Marks, seq: number, json: string): void {
  const mayPublish = /"key":"(?:stats|task|leaf_event_id)"/.test(json);
  // Damaged updates are skipped: totals contain the earlier ones.
  if (!mayPublish || !isWhole(json)) return;
  const { key, value } = JSON.parse(json) as { readonly key?: string; readonly value?: unknown };
  const fields = (value ?? {}) as { task_id?: string; usage_to_metrics?: Usages };
  if (key === "leaf_event_id") marks.branches.push(seq);
  else if (key === "task" && fields.task_id !== undefined && !marks.tasks.has(fields.task_id))
    marks.tasks.set(fields.task_id, seq);
  else if (key === "stats" && fields.usage_to_metrics !== undefined)
    addSpent(marks, { position: seq, ...spentOf(fields.usage_to_metrics) });
}

/** Keeps the last of each span of positions, and makes the spans wider when there are too many. */
function addSpent(marks: Marks, spent: Spent): void {
  const last = marks.spent.at(-1);
  if (last !== undefined && isInSpan(last, spent, marks.width)) marks.spent.pop();
  marks.spent.push(spent);
  while (marks.spent.length > maxSpent) {
    const width = marks.width * 2;
    marks.width = width;
    marks.spent = marks.spent.filter((point, index, all) => {
      const next = all[index + 1];
      return next === undefined || !isInSpan(point, next, width);
    });
  }
}

function isInSpan(left: Spent, right: Spent, width: number): boolean {
  return Math.floor(left.position / width) === Math.floor(right.position / width);
}

type Usages = Readonly<Record<string, MetricsSnapshot | undefined>>;

/** Only the agent's own requests fill the context window; titles and summaries are separate. */
function spentOf(usages: Usages): Omit<Spent, "position"> {
  const all = Object.values(usages);
  const cost = all.reduce((sum, metrics) => sum + (metrics?.accumulated_cost ?? 0), 0);
  const usage = (usages["agent"] ?? all[0])?.accumulated_token_usage;
  const window = usage?.context_window ?? 0;
  return { cost, context: window > 0 ? (usage?.per_turn_token ?? 0) / window : null };
}
