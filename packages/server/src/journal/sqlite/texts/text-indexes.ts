import { TextIndex } from "./text-index.ts";

/** One state of the index until it is disposed of; no index when there is none yet. */
export type TakenIndex = Disposable & { readonly index: TextIndex | null };

/** Connections to the index: each reader has one of its own. */
export class TextIndexes implements Disposable {
  readonly #path: string;
  readonly #onDamage: () => void;
  #idle: TextIndex[] = [];
  #round = 0;

  /** `onDamage` has the file made again. */
  constructor(path: string, onDamage: () => void) {
    this.#path = path;
    this.#onDamage = onDamage;
  }

  take(): TakenIndex {
    const index = this.#idle.pop() ?? TextIndex.open(this.#path);
    if (index === null) return { index, [Symbol.dispose]: () => {} };
    const round = this.#round;
    index.begin();
    return { index, [Symbol.dispose]: () => this.#giveBack(index, round) };
  }

  /** Somebody found it damaged. */
  makeAgain(): void {
    this[Symbol.dispose]();
    this.#onDamage();
  }

  [Symbol.dispose](): void {
    this.#round += 1;
    for (const index of this.#idle) index.close();
    this.#idle = [];
  }

  #giveBack(index: TextIndex, round: number): void {
    if (round !== this.#round || this.#idle.length >= maxIdle) {
      index.close();
      return;
    }
    index.end();
    this.#idle.push(index);
  }
}

const maxIdle = 2;
