import { parseStored } from "../../events/parse-stored.ts";
import type { SeqRange } from "../../events/event-draft.ts";
import type { Journal } from "../../journal/journal.ts";
import { commonRanges, isOnPath, pathTo, type Navigation } from "../branches.ts";
import type { ViewEvent } from "../history-view.ts";

export type BranchReaderDeps = {
  readonly journal: Pick<Journal, "readKinds">;
  readonly conversationId: string;
  /** Where the log left its line, and where it ends. */
  readonly navigations: readonly Navigation[];
  readonly lastSeq: number;
};

/** Where a search begins, so many positions at once; each further step is twice as wide, up to the most. */
const steps = { first: 64, max: 4_096 } as const;

/** Reads what leads to a position of a log, and what it leads to, as far as somebody asks. Needs no lease; rejects for a damaged event. */
export class BranchReader {
  readonly #deps: BranchReaderDeps;

  constructor(deps: BranchReaderDeps) {
    this.#deps = deps;
  }

  /** The positions up to `toSeq` that lead to `seq`. */
  pathTo(seq: number, toSeq: number): SeqRange[] {
    return commonRanges(pathTo(this.#deps.navigations, seq), [[1, toSeq]]);
  }

  async read(kinds: readonly string[], ranges: readonly SeqRange[]): Promise<ViewEvent[]> {
    const { journal, conversationId } = this.#deps;
    const parts: ViewEvent[][] = [];
    for (const [from, to] of ranges) {
      const stored = await journal.readKinds(conversationId, kinds, from, to);
      parts.push(stored.map((item) => parseStored(conversationId, item)));
    }
    return parts.flat();
  }

  /** The events in some ranges, the newest first. */
  async *back(kinds: readonly string[], ranges: readonly SeqRange[]): AsyncGenerator<ViewEvent> {
    let step: number = steps.first;
    for (const [from, to] of ranges.toReversed()) {
      for (let end = to; end >= from; step = Math.min(2 * step, steps.max)) {
        const start = Math.max(from, end - step + 1);
        yield* (await this.read(kinds, [[start, end]])).toReversed();
        end = start - 1;
      }
    }
  }

  /** The events behind `seq` on all branches that it is a part of, the oldest first. */
  async *ahead(kinds: readonly string[], seq: number): AsyncGenerator<ViewEvent> {
    const { navigations, lastSeq } = this.#deps;
    let step: number = steps.first;
    let from = seq + 1;
    const ends = [...navigations.filter(([at]) => at > seq).map(([at]) => Math.ceil(at) - 1), lastSeq];
    for (const to of ends) {
      let start = isOnPath(pathTo(navigations, from), seq) ? from : to + 1;
      for (; start <= to; step = Math.min(2 * step, steps.max)) {
        const end = Math.min(to, start + step - 1);
        yield* await this.read(kinds, [[start, end]]);
        start = end + 1;
      }
      from = to + 2;
    }
  }
}
