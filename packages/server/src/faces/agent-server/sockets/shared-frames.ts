import type { TrimmedEvents } from "../../../events/trimmed-events.ts";
import { EventFrames } from "./event-frames.ts";

/** The number of requested lengths that share frames; web pages use one. */
const maxShared = 16;

/** Encodes frames once for all sockets with the same options. */
export class SharedFrames {
  readonly #trimmed: TrimmedEvents;
  readonly #byTrim = new Map<number | null, EventFrames>();

  constructor(trimmed: TrimmedEvents) {
    this.#trimmed = trimmed;
  }

  of(trim: number | null): EventFrames {
    const known = this.#byTrim.get(trim);
    if (known !== undefined) return known;
    const frames = new EventFrames((json) => this.#trimmed.shown(json, trim));
    if (this.#byTrim.size < maxShared) this.#byTrim.set(trim, frames);
    return frames;
  }
}
