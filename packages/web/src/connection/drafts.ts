import type { Keep } from "../lib/keep.ts";

/** What was written and not sent, one for each conversation and one for a new one. */
export class Drafts {
  readonly #keep: Keep;

  constructor(keep: Keep) {
    this.#keep = keep;
  }

  read(place: string): string {
    const text = this.#keep.read(`draft.${place}`);
    return typeof text === "string" ? text : "";
  }

  write(place: string, text: string): void {
    if (text === "") this.#keep.remove(`draft.${place}`);
    else this.#keep.write(`draft.${place}`, text);
  }

  /** Pictures that were added, as `data:` addresses. */
  readImages(place: string): readonly string[] {
    const images = this.#keep.read(`draft-images.${place}`);
    return Array.isArray(images) && images.every((image) => typeof image === "string") ? images : [];
  }

  /** Many or large pictures are not kept: what was typed shares the room. */
  writeImages(place: string, images: readonly string[]): void {
    const length = images.reduce((sum, image) => sum + image.length, 0);
    if (length === 0 || length > mostImageLength) this.#keep.remove(`draft-images.${place}`);
    else this.#keep.write(`draft-images.${place}`, images);
  }
}

/** Characters; a browser keeps five million for a page. */
const mostImageLength = 1_500_000;
