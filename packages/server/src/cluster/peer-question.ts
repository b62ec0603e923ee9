import { randomUUID } from "node:crypto";
import type { ProcessGroup } from "./process-group.ts";

type Question = { readonly id: string };
type Answer = { readonly id: string; readonly value: unknown };

/** A process that has not answered by then is starting, closing or stalled. */
const maxAnswerMs = 1_000;

/** A question that each process behind one port can ask all the others. */
export class PeerQuestion<Value> implements Disposable {
  readonly #group: ProcessGroup;
  readonly #topic: string;
  readonly #stop: () => void;

  /** `answer` replies to the others. When it rejects, they get one answer fewer. */
  constructor(group: ProcessGroup, topic: string, answer: () => Promise<Value>) {
    this.#group = group;
    this.#topic = topic;
    this.#stop = group.subscribe(topic, (body) => {
      const { id } = body as Question;
      answer().then(
        (value) => group.publish({ topic: answersTo(topic), body: { id, value } satisfies Answer }),
        () => {},
      );
    });
  }

  /** The answers that arrive within a second, in no order. */
  async ask(): Promise<Value[]> {
    const { count } = this.#group;
    if (count === 1) return [];
    const id = randomUUID();
    const values: Value[] = [];
    const all = Promise.withResolvers<void>();
    const stop = this.#group.subscribe(answersTo(this.#topic), (body) => {
      const answer = body as Answer;
      if (answer.id !== id) return;
      values.push(answer.value as Value);
      if (values.length === count - 1) all.resolve();
    });
    const late = setTimeout(() => all.resolve(), maxAnswerMs);
    try {
      this.#group.publish({ topic: this.#topic, body: { id } satisfies Question });
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
