import { randomUUID } from "node:crypto";
import type { Fellows } from "./fellows.ts";

type Question = { readonly id: string };
type Answer = { readonly id: string; readonly value: unknown };

/** Whoever has not answered by then is starting, ending, or stands still. */
const mostMs = 1_000;

/** One question that each process can ask all others about. */
export class FellowQuestion<Value> implements Disposable {
  readonly #fellows: Fellows;
  readonly #topic: string;
  readonly #stop: () => void;

  /** `answer` is asked for the others; what it fails at is an answer less for them. */
  constructor(fellows: Fellows, topic: string, answer: () => Promise<Value>) {
    this.#fellows = fellows;
    this.#topic = topic;
    this.#stop = fellows.hear(topic, (body) => {
      const { id } = body as Question;
      answer().then(
        (value) => fellows.tell({ topic: answersTo(topic), body: { id, value } satisfies Answer }),
        () => {},
      );
    });
  }

  /** What the others answer within a second, in no order. */
  async ask(): Promise<Value[]> {
    const { count } = this.#fellows;
    if (count === 1) return [];
    const id = randomUUID();
    const values: Value[] = [];
    const all = Promise.withResolvers<void>();
    const stop = this.#fellows.hear(answersTo(this.#topic), (body) => {
      const answer = body as Answer;
      if (answer.id !== id) return;
      values.push(answer.value as Value);
      if (values.length === count - 1) all.resolve();
    });
    const late = setTimeout(() => all.resolve(), mostMs);
    try {
      this.#fellows.tell({ topic: this.#topic, body: { id } satisfies Question });
      await all.promise;
      return values;
    } finally {
      clearTimeout(late);
      stop();
    }
  }

  [Symbol.dispose](): void {
    this.#stop();
  }
}

function answersTo(topic: string): string {
  return `${topic} answers`;
}
