import type { DatabaseSync } from "node:sqlite";
import {
  UnknownPageError,
  type EventFilter,
  type EventPageText,
  type EventQuery,
  type KindFilter,
} from "../journal.ts";
import { BodySearch } from "./body-search.ts";
import { ClassIndex } from "./class-index.ts";
import { ClassReader, type EventClass } from "./classes.ts";
import { pageLength } from "../page-bound.ts";
import type { EventReader } from "./event-reader.ts";
import type { LogRange } from "./log-ends.ts";
import { isWhole, shownJson } from "../shown-event.ts";
import { MatchReader, type Match, type Plan } from "./match-reader.ts";
import type { TextIndexes } from "./texts/text-indexes.ts";

/** Answers every documented filter from a range of an index; never by reading the whole log. */
export class EventSearch {
  readonly #reader: EventReader;
  readonly #classes: ClassReader;
  readonly #bodies: BodySearch;
  readonly #matches: MatchReader;

  constructor(database: DatabaseSync, reader: EventReader, indexes: TextIndexes) {
    this.#reader = reader;
    this.#classes = new ClassReader(database);
    this.#matches = new MatchReader(database, reader, new ClassIndex(database));
    this.#bodies = new BodySearch({ events: reader, matches: this.#matches, indexes });
  }

  async search(conversationId: string, query: EventQuery): Promise<EventPageText> {
    const isDescending = query.order === "TIMESTAMP_DESC";
    const { body } = query;
    if (body === undefined) {
      return this.#reader.snapshot(() => {
        const plan = this.#plan(conversationId, query, query.pageId, isDescending);
        const matches = plan === null ? [] : this.#matches.read(plan, isDescending, query.limit);
        return this.#toPage(plan?.log ?? null, matches, query.limit);
      });
    }
    const plan = this.#reader.snapshot(() => this.#plan(conversationId, query, query.pageId, isDescending));
    if (plan === null) return { items: [], nextPageId: null };
    const seqs: number[] = [];
    for await (const seq of this.#bodies.find({ ...plan, classes: plan.classes ?? [], body, isDescending })) {
      seqs.push(seq);
      if (seqs.length > query.limit) break;
    }
    // What was recent when the search began may have moved since.
    return this.#reader.snapshot(() => {
      const log = this.#reader.open(conversationId);
      const matches = log?.number === plan.log.number ? this.#matches.readEach(log, seqs) : [];
      return this.#toPage(log, matches, query.limit);
    });
  }

  async count(conversationId: string, filter: EventFilter): Promise<number> {
    const { body } = filter;
    const counted = this.#reader.snapshot(() => {
      const plan = this.#plan(conversationId, filter, undefined, false);
      return plan && { plan, recent: body === undefined ? this.#matches.countRecent(plan) : 0 };
    });
    if (counted === null) return 0;
    const { plan, recent } = counted;
    const { classes } = plan;
    if (classes === null) return plan.toSeq - plan.fromSeq + 1;
    if (body === undefined) return recent + (await this.#matches.countSettled(plan));
    let total = 0;
    for await (const _ of this.#bodies.find({ ...plan, classes, body, isDescending: false })) total += 1;
    return total;
  }

  /** The `seq` of the events of the given kinds in a span, ascending, at most `limit`. */
  findKinds(
    log: LogRange,
    kinds: readonly string[],
    fromSeq: number,
    toSeq: number,
    limit: number,
  ): number[] {
    const classes = this.#classes.select(({ kind }) => kinds.includes(kind));
    if (classes.length === 0) return [];
    return this.#matches.readSeqs({ log, fromSeq, toSeq, classes }, limit);
  }

  /** The `seq` of those that pass a filter from one on, ascending, at most `limit`; inside the caller's snapshot. */
  findSeqs(conversationId: string, filter: KindFilter, fromSeq: number, limit: number): number[] {
    const plan = this.#plan(conversationId, filter, undefined, false);
    return plan === null ? [] : this.#matches.readSeqs({ ...plan, fromSeq }, limit);
  }

  #toPage(log: LogRange | null, matches: readonly Match[], limit: number): EventPageText {
    const length = pageLength(matches, limit);
    const next = matches[length];
    return {
      items: matches
        .slice(0, length)
        .map(({ seq, json }) =>
          log === null || isWhole(json) ? json : shownJson({ seq, id: this.#reader.idAt(log, seq), json }),
        ),
      nextPageId: next === undefined || log === null ? null : this.#reader.idAt(log, next.seq),
    };
  }

  /** Null when nothing can match. */
  #plan(
    conversationId: string,
    filter: EventFilter,
    pageId: string | undefined,
    isDescending: boolean,
  ): Plan | null {
    const log = this.#reader.open(conversationId);
    const pageSeq = pageId === undefined || log === null ? null : this.#reader.seqOfId(log, pageId);
    if (pageId !== undefined && pageSeq === null) {
      throw new UnknownPageError(`Conversation ${conversationId} has no event ${pageId}`);
    }
    if (log === null) return null;
    let fromSeq = 1;
    let toSeq = log.lastSeq;
    if (filter.timestampGteMicros !== undefined) {
      fromSeq = this.#reader.firstSeqAtOrAfter(log, filter.timestampGteMicros);
    }
    if (filter.timestampLtMicros !== undefined) {
      toSeq = this.#reader.firstSeqAtOrAfter(log, filter.timestampLtMicros) - 1;
    }
    if (pageSeq !== null && isDescending) toSeq = Math.min(toSeq, pageSeq);
    if (pageSeq !== null && !isDescending) fromSeq = Math.max(fromSeq, pageSeq);
    const classes = this.#selectClasses(filter);
    return fromSeq > toSeq || classes?.length === 0 ? null : { log, fromSeq, toSeq, classes };
  }

  #selectClasses({ kind, source, body }: EventFilter): EventClass[] | null {
    if (kind === undefined && source === undefined && body === undefined) return null;
    return this.#classes.select(
      (candidate) =>
        (kind === undefined || candidate.kind === kind) &&
        (source === undefined || candidate.source === source) &&
        (body === undefined || candidate.hasText),
    );
  }
}
