import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { EventWithMeta, LogHead, StoredEvent } from "../journal.ts";
import { idAfter, isIdBytes, toIdBytes, toIdText } from "../event-id.ts";
import { PageBound } from "../page-bound.ts";
import { damagedJson } from "../shown-event.ts";
import { isBesideIntact, isJsonIntact } from "../checksum.ts";
import { LogEnds, type LogRange } from "./log-ends.ts";
import {
  isIntact,
  preparePart,
  windowSize,
  type IntactRow,
  type OneRow,
  type Part,
  type RangeRow,
} from "./log-part.ts";
import { isStorageFault, positionOf, unlessDamaged } from "./schema.ts";

/** How far from a row that is not found the search for it begins again, in events. */
const distances = [1, 2, 4, 8, 16, 32, 64];

/**
 * Reads events by `seq`, by id and by time. Ids and times grow with `seq`, so both are found by halving, without an index.
 * A log is gapless: an event that is gone, unreadable or altered is given all the same, in its place, as {@link damagedJson}.
 */
export class EventReader {
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  readonly #ends: LogEnds;
  readonly #landmarks = new Map<number, Uint8Array>();
  readonly #settled: Part;
  readonly #recent: Part;

  constructor(database: DatabaseSync) {
    this.#begin = database.prepare("BEGIN");
    this.#end = database.prepare("ROLLBACK");
    this.#ends = new LogEnds(database, (read) => this.snapshot(read));
    this.#settled = preparePart(database, "events");
    this.#recent = preparePart(database, "recent");
  }

  /** Reads of one call see one state, also while events move to their place. Ends by a rollback: damage fails a commit. */
  snapshot<Result>(read: () => Result): Result {
    this.#begin.run();
    try {
      return read();
    } finally {
      this.#end.run();
    }
  }

  /** Forgets what only makes the next reads faster. */
  releaseMemory(): void {
    this.#ends.releaseMemory();
    this.#landmarks.clear();
  }

  /** Null when there is no such conversation; inside the caller's snapshot. */
  open(conversationId: string): LogRange | null {
    return this.#ends.open(conversationId);
  }

  /** See {@link LogEnds.head}. */
  head(conversationId: string): LogHead | null {
    return this.#ends.head(conversationId);
  }

  /** Events of `[fromSeq, toSeq]`, ascending, at most `limit`; fewer when they are long. */
  readRange(log: LogRange, fromSeq: number, toSeq: number, limit: number): StoredEvent[] {
    const lastSeq = Math.min(toSeq, log.lastSeq, fromSeq + limit - 1);
    const events: StoredEvent[] = [];
    const bound = new PageBound();
    const isWhole = unlessDamaged(
      () =>
        this.#partsOf(log, fromSeq, lastSeq).every(
          ([part, ...span]) => bound.isReached || this.#readWhole(log, part, span, { events, bound }),
        ),
      () => false,
    );
    return isWhole ? events : this.#readSingly(log, fromSeq, lastSeq);
  }

  /** False where one of the events is not there as it was written. */
  #readWhole(
    log: LogRange,
    part: Part,
    [from, to]: readonly [number, number],
    { events, bound }: { readonly events: StoredEvent[]; readonly bound: PageBound },
  ): boolean {
    const base = positionOf(log.number, 0);
    const rows = part.range.iterate(base + from, base + to) as unknown as Iterable<RangeRow>;
    let next = from;
    for (const [position, id, json, checksum] of rows) {
      if (position !== base + next || !isIdBytes(id) || !isJsonIntact(position, json, checksum)) return false;
      events.push({ seq: next, id: toIdText(id), json });
      next += 1;
      bound.add(json);
      if (bound.isReached) return true;
    }
    return next > to;
  }

  /** For a page with damage in it. */
  #readSingly(log: LogRange, fromSeq: number, lastSeq: number): StoredEvent[] {
    const bound = new PageBound();
    const events: StoredEvent[] = [];
    for (let seq = fromSeq; seq <= lastSeq && !bound.isReached; seq += 1) {
      const { id, json } = this.readOne(log, seq);
      events.push({ seq, id, json });
      bound.add(json);
    }
    return events;
  }

  /** How long the events of `[fromSeq, toSeq]` are together, in bytes; what is damaged may be left out. */
  bytesOf(log: LogRange, fromSeq: number, toSeq: number): number {
    const base = positionOf(log.number, 0);
    return this.#partsOf(log, fromSeq, toSeq).reduce((total, [{ bytes }, from, to]) => {
      const [found] = (bytes.get(base + from, base + to) ?? []) as unknown as [number?];
      return total + (found ?? 0);
    }, 0);
  }

  /** One by one, each in its place. */
  readEach(log: LogRange, seqs: readonly number[]): EventWithMeta[] {
    return seqs.map((seq) => this.readOne(log, seq));
  }

  /** An event of the log, which has to reach to `seq`. */
  readOne(log: LogRange, seq: number): EventWithMeta {
    const row = this.find(log, seq);
    if (row === null) return this.#damaged(log, seq);
    const [, id, timestamp, classCode, json, text, meta, checksum] = row;
    const isWhole = isBesideIntact({ id, timestamp, classCode, json, text, meta }, checksum);
    // Who needs what stands beside the event must not guess it; the event itself is whole.
    return { seq, id: toIdText(id), json, meta: isWhole ? meta : damagedJson };
  }

  /** The JSON of an event of the log, which has to reach to `seq`. */
  readJson(log: LogRange, seq: number): string {
    const [json, checksum] = (this.#get(log, seq, "json") as [unknown, unknown] | null) ?? [];
    if (isJsonIntact(positionOf(log.number, seq), json, checksum)) return json;
    return this.find(log, seq)?.[4] ?? damagedJson;
  }

  /**
   * Null for an event that is gone or altered. On the way down to a row SQLite may be led astray by damage beside it, so it is also searched
   * from other rows, near and far: a page in either order finds the same.
   */
  find(log: LogRange, seq: number): IntactRow | null {
    const position = positionOf(log.number, seq);
    const first = positionOf(log.number, seq - ((seq - 1) % windowSize));
    // From well before it: the way to the first place may be the damaged one.
    const before = Math.max(positionOf(log.number, 1), first - windowSize);
    const part = this.#partOf(log, seq);
    const from = positionOf(log.number, 1);
    const attempts = [
      () => part.around.iterate(position, position),
      () => part.around.iterate(before, position),
      () => part.aroundDown.iterate(position, first + 2 * windowSize),
      ...distances.flatMap((distance) => [
        () => part.around.iterate(Math.max(from, position - distance), position),
        () => part.aroundDown.iterate(position, position + distance),
      ]),
    ];
    for (const attempt of attempts) {
      try {
        for (const row of attempt() as unknown as Iterable<OneRow>)
          if (row[0] === position && isIntact(row)) return row;
      } catch (error) {
        if (!isStorageFault(error)) throw error;
      }
    }
    return null;
  }

  idAt(log: LogRange, seq: number): string {
    return toIdText(this.#idBytesAt(log, seq));
  }

  /** Null when the log has no such id. */
  seqOfId(log: LogRange, id: string): number | null {
    const wanted = toIdBytes(id);
    if (wanted === null) return null;
    const seq = firstSeqWhere(log, (at) => {
      const id = this.#landmark(log, at) ?? this.#idBytesAt(log, at);
      return Buffer.compare(id, wanted) >= 0;
    });
    if (seq <= log.lastSeq && Buffer.compare(this.#idBytesAt(log, seq), wanted) === 0) return seq;
    // Damage may have led to another place, also by ids that only look like some: it is not there only where both that it would be between are sound.
    const [before, after] = [seq - 1, seq].map((at) => this.#soundId(log, at));
    const isAfter = seq === 1 || (before != null && Buffer.compare(before, wanted) < 0);
    const isBefore = seq > log.lastSeq || (after != null && Buffer.compare(after, wanted) > 0);
    return isAfter && isBefore && !isOfPlace(wanted) ? null : this.#searchId(log, wanted);
  }

  /** Null where the event or what stands beside it is not as it was written. */
  #soundId(log: LogRange, seq: number): Uint8Array | null {
    const row = seq < 1 || seq > log.lastSeq ? null : this.find(log, seq);
    if (row === null) return null;
    const [, id, timestamp, classCode, json, text, meta, checksum] = row;
    return isBesideIntact({ id, timestamp, classCode, json, text, meta }, checksum) ? id : null;
  }

  #searchId(log: LogRange, wanted: Uint8Array): number | null {
    const end = Math.min(log.lastSeq, maxSearched);
    let [last, lastOwn]: [Uint8Array, number] = [new Uint8Array(16), 0];
    for (let seq = 1; seq <= end; seq += 1) {
      const own = this.#ownId(log, seq);
      if (own !== null) [last, lastOwn] = [own, seq];
      const isNear = seq - lastOwn < maxDistance;
      const id = own ?? (isNear ? idAfter(last, seq - lastOwn) : idAfter(new Uint8Array(16), seq));
      if (Buffer.compare(id, wanted) === 0) return seq;
    }
    return null;
  }

  /** The first `seq` whose time is not before the instant; one after the last when there is none. */
  firstSeqAtOrAfter(log: LogRange, timestampMicros: number): number {
    return firstSeqWhere(log, (seq) => this.microsAt(log, seq) >= timestampMicros);
  }

  /** An event that was moved to its place may stand in both parts for a while. */
  #partsOf(log: LogRange, from: number, to: number): [part: Part, from: number, to: number][] {
    const parts: [Part, number, number][] = [
      [this.#settled, from, Math.min(to, log.settledSeq)],
      [this.#recent, Math.max(from, log.settledSeq + 1), to],
    ];
    return parts.filter(([, first, last]) => first <= last);
  }

  #partOf(log: LogRange, seq: number): Part {
    return seq <= log.settledSeq ? this.#settled : this.#recent;
  }

  /** Null when the row is gone or cannot be read. */
  #get(log: LogRange, seq: number, what: "json" | "id" | "timestamp"): unknown {
    const position = positionOf(log.number, seq);
    return unlessDamaged(
      () => this.#partOf(log, seq)[what].get(position) ?? null,
      () => null,
    );
  }

  /** A damaged event counts as the readable one after it, so that it hides nothing but itself. */
  microsAt(log: LogRange, seq: number): number {
    for (let at = seq; at <= log.lastSeq && at - seq < maxDistance; at += 1) {
      const [micros] = (this.#get(log, at, "timestamp") as [unknown] | null) ?? [];
      if (typeof micros === "number") return micros;
      // Where rows are gone the next one is far away, however many there were.
      if (at === seq) {
        const next = this.#nextMicros(log, seq);
        if (next !== null) return next;
      }
    }
    return Number.MAX_SAFE_INTEGER;
  }

  /** Null when the next row is on a damaged page, or in the other part of the log. */
  #nextMicros(log: LogRange, seq: number): number | null {
    const [from, to] = [positionOf(log.number, seq), positionOf(log.number, log.lastSeq)];
    const row = unlessDamaged<unknown>(
      () => this.#partOf(log, seq).nextTimestamp.get(from, to),
      () => undefined,
    );
    const [position, micros] = (row ?? []) as [unknown?, unknown?];
    const isInPlace = typeof position === "number" && position >= from && position <= to;
    return isInPlace && typeof micros === "number" ? micros : null;
  }

  /** Ids that the binary search reads again and again are cached: they never change. Null where it is damaged. */
  #landmark(log: LogRange, seq: number): Uint8Array | null {
    const position = positionOf(log.number, seq);
    const known = this.#landmarks.get(position);
    if (known !== undefined) return known;
    const own = this.#ownId(log, seq);
    if (own === null) return null;
    if (seq % landmarkDistance === 0) {
      if (this.#landmarks.size >= maxLandmarks) this.#landmarks.clear();
      this.#landmarks.set(position, own);
    }
    return own;
  }

  #ownId(log: LogRange, seq: number): Uint8Array | null {
    const [own] = (this.#get(log, seq, "id") as [unknown] | null) ?? [];
    return isIdBytes(own) ? own : (this.find(log, seq)?.[1] ?? null);
  }

  /** An event without an id of its own has one between those of the adjacent events, always the same. */
  #idBytesAt(log: LogRange, seq: number): Uint8Array {
    const own = this.#ownId(log, seq);
    if (own !== null) return own;
    // Not by the nearest row that SQLite finds: damage may lead it to one far away, whose id is out of order here.
    for (let before = seq - 1; before > 0 && before > seq - maxDistance; before -= 1) {
      const id = this.#ownId(log, before);
      if (id !== null) return idAfter(id, seq - before);
    }
    return idAfter(new Uint8Array(16), seq);
  }

  #damaged(log: LogRange, seq: number): EventWithMeta {
    return { seq, id: this.idAt(log, seq), json: damagedJson, meta: null };
  }
}

/** Ids of damaged events that are far from any other say their place only; those of events begin with a time. */
function isOfPlace(id: Uint8Array): boolean {
  return id.subarray(0, 8).every((byte) => byte === 0);
}

/** At 1,000,000 events that is every place of the first twelve steps of twenty. */
const landmarkDistance = 256;
const maxLandmarks = 4_096;

/** How many events of a damaged log are searched for an id. */
const maxSearched = 4_096;

/** A damaged page holds fewer events than this, if they are not tiny. */
const maxDistance = 256;

/** All of `[first, last]`. */
export function seqsBetween(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

/** Halves the log, at multiples of powers of two: the first places are the same ones each time, also after it grew. */
function firstSeqWhere(log: LogRange, isReached: (seq: number) => boolean): number {
  let before = 0;
  for (let step = 2 ** Math.floor(Math.log2(Math.max(1, log.lastSeq))); step >= 1; step /= 2) {
    const at = before + step;
    if (at <= log.lastSeq && !isReached(at)) before = at;
  }
  return before + 1;
}
