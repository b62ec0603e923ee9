import type { BottomArea, Drawing, Size } from "./screen.ts";

export type PlainScreenDeps = {
  readonly write: (text: string) => void;
  readonly size: Size;
  readonly nowMs: () => number;
};

/** How often a person hears what is still awaited. */
const reminderMs = 30_000;

/**
 * For screen readers: lines one after the other, and nothing that moves or changes. Questions and notices are lines, the end of a run is
 * `done`, and what takes long says so twice a minute.
 */
export class PlainScreen implements Drawing {
  readonly readsLines = true;
  readonly #deps: PlainScreenDeps;
  #size: Size;
  #finished: string[] = [];
  #area: BottomArea | null = null;
  #news: readonly string[] = [];
  #wasAwaited = false;
  #spokeAtMs: number;

  constructor(deps: PlainScreenDeps) {
    this.#deps = deps;
    this.#size = deps.size;
    this.#spokeAtMs = deps.nowMs();
  }

  get size(): Size {
    return this.#size;
  }

  commit(text: string): void {
    this.#finished.push(text);
  }

  setArea(area: BottomArea): void {
    this.#area = area;
  }

  frame(): void {
    const lines = [...this.#finished, ...this.#newLines()];
    this.#finished = [];
    if (lines.length === 0) return;
    this.#spokeAtMs = this.#deps.nowMs();
    this.#deps.write(`${lines.join("\n")}\n`);
  }

  resize(size: Size): void {
    this.#size = size;
  }

  clearArea(): void {
    this.frame();
  }

  #newLines(): string[] {
    if (this.#area === null) return [];
    const { news, awaited, isAsking } = this.#area.spoken;
    const added = news.filter((line) => line !== "" && !this.#news.includes(line));
    this.#news = news;
    const isDone = this.#wasAwaited && awaited === null && !isAsking && added.length === 0;
    this.#wasAwaited = awaited !== null || (this.#wasAwaited && isAsking);
    if (isDone) return ["done"];
    const isLong = awaited !== null && this.#deps.nowMs() - this.#spokeAtMs >= reminderMs;
    return isLong && added.length === 0 ? [`still working: ${awaited}`] : added;
  }
}
