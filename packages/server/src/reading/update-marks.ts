import type { Landmarks, MetricsSnapshot } from "@convoke/protocol";
import type { ConversationRow, Journal } from "../journal/journal.ts";
import { isWhole } from "../journal/shown-event.ts";

type Spent = Landmarks["spent"][number];
type Marks = {
  readonly createdAtMicros: number;
  /** Up to here it was read. */
  lastSeq: number;
  readonly branches: number[];
  /** By the id of the task: where its first update stands. */
  readonly tasks: Map<string, number>;
  spent: Spent[];
  /** Of so many positions in a row the newest spending is kept. */
  width: number;
};

/** So many positions are looked at before other work has its turn. */
const span = 4_096;
const maxSpent = 400;
/** So many conversations are remembered. */
const maxSpans = 8;

/**
 * Where updates of the state tell that somebody went back, that a sub-agent began, and what had been spent. Each update is read
 * once: a log that has grown is read from where it ended.
 */
export class UpdateMarks {
  readonly #journal: Pick<Journal, "readKinds">;
  /** What was asked for longest ago comes first. */
  readonly #known = new Map<string, Marks>();

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
    // An id may come back with another log after its conversation was deleted.
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
    this.#keep(id, marks);
    const { branches, tasks, spent } = marks;
    return { branches: [...branches], tasks: [...tasks.values()], spent: [...spent] };
  }

  #keep(id: string, marks: Marks): void {
    this.#known.delete(id);
    this.#known.set(id, marks);
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxSpans && oldest !== undefined) this.#known.delete(oldest);
  }
}

function begin(createdAtMicros: number): Marks {
  return { createdAtMicros, lastSeq: 0, branches: [], tasks: new Map(), spent: [], width: 1 };
}

/** Two that read at the same time add to their own. */
function copyOf(marks: Marks): Marks {
  return { ...marks, branches: [...marks.branches], tasks: new Map(marks.tasks), spent: [...marks.spent] };
}

function take(marks: Marks, seq: number, json: string): void {
  const mayPublish = /"key":"(?:stats|task|leaf_event_id)"/.test(json);
  // What is damaged marks nothing: totals contain the ones before.
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

/** What fills the window is what the agent itself reads; titles and summaries are asked beside it. */
function spentOf(usages: Usages): Omit<Spent, "position"> {
  const all = Object.values(usages);
  const cost = all.reduce((sum, metrics) => sum + (metrics?.accumulated_cost ?? 0), 0);
  const usage = (usages["agent"] ?? all[0])?.accumulated_token_usage;
  const window = usage?.context_window ?? 0;
  return { cost, context: window > 0 ? (usage?.per_turn_token ?? 0) / window : null };
}
