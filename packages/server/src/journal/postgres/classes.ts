import type { Pool } from "pg";

/** One (kind, source) pair, of events with or without a text; every kind and source filter is a set of classes. */
export type EventClass = {
  readonly code: number;
  readonly kind: string;
  readonly source: string;
  readonly has_text: boolean;
};

/** The numbers of classes. They never change, so all that were met are remembered. */
export class Classes {
  readonly #pool: Pool;
  readonly #codes = new Map<string, number>();

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Null when it was not met yet: then {@link learn} it. */
  codeOf(kind: string, source: string, hasText: boolean): number | null {
    return this.#codes.get(keyOf(kind, source, hasText)) ?? null;
  }

  /** Learns what is not known yet. */
  async know(kind: string, source: string, hasText: boolean): Promise<void> {
    if (this.codeOf(kind, source, hasText) === null) await this.learn(kind, source, hasText);
  }

  async learn(kind: string, source: string, hasText: boolean): Promise<void> {
    const values = [kind, source, hasText];
    await this.#pool.query(
      "INSERT INTO convoke.classes (kind, source, has_text) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      values,
    );
    const { rows } = await this.#pool.query<{ code: number }>(
      "SELECT code FROM convoke.classes WHERE kind = $1 AND source = $2 AND has_text = $3",
      values,
    );
    this.#codes.set(keyOf(kind, source, hasText), rows[0]!.code);
  }

  /** What was met last may not be there any more. */
  forget(): void {
    this.#codes.clear();
  }

  /** Asked anew each time: other processes add some. */
  async select(isSelected: (eventClass: EventClass) => boolean): Promise<number[]> {
    const { rows } = await this.#pool.query<EventClass>(
      "SELECT code, kind, source, has_text FROM convoke.classes",
    );
    return rows.filter(isSelected).map(({ code }) => code);
  }
}

function keyOf(kind: string, source: string, hasText: boolean): string {
  return `${hasText} ${source} ${kind}`;
}
