import { asRecord, textAt, textsAt } from "@convoke/client/view";
import type { BrowserStorage } from "../lib/browser-storage.ts";

/** Unsent drafts, one per conversation and one for a new one. */
export class Drafts {
  readonly #storage: BrowserStorage;

  constructor(storage: BrowserStorage) {
    this.#storage = storage;
  }

  read(place: string): string {
    const text = this.#storage.read(`draft.${place}`);
    return typeof text === "string" ? text : "";
  }

  write(place: string, text: string): void {
    if (text === "") this.#storage.remove(`draft.${place}`);
    else this.#storage.write(`draft.${place}`, text);
  }

  /** Attached images as `data:` URLs. */
  readImages(place: string): readonly string[] {
    return this.#pictures().find((stored) => stored.place === place)?.images ?? [];
  }

  /** Limit over all drafts, so that texts have room: the newest images, each whole. */
  writeImages(place: string, images: readonly string[]): void {
    const before = this.#pictures();
    const others = before.filter((stored) => stored.place !== place);
    if (images.length === 0 && others.length === before.length) return;
    const stored = images.length === 0 ? others : [...others, { place, images }];
    while (lengthOf(stored) > maxImageLength) stored.shift();
    if (stored.length > 0 && this.#storage.write(imagesKey, stored)) return;
    // The stored images are older than these.
    this.#storage.remove(imagesKey);
  }

  #pictures(): Pictures[] {
    const stored = this.#storage.read(imagesKey);
    if (!Array.isArray(stored)) return [];
    return stored
      .map(asRecord)
      .filter((one) => one !== null)
      .map((one) => ({ place: textAt(one, "place"), images: textsAt(one, "images") }));
  }
}

/** The images of one draft; the newest draft is last. */
type Pictures = { readonly place: string; readonly images: readonly string[] };

const imagesKey = "draft-images";
/** Maximum characters; browsers store five million per page. */
const maxImageLength = 1_500_000;

function lengthOf(pictures: readonly Pictures[]): number {
  return pictures.flatMap(({ images }) => images).reduce((sum, image) => sum + image.length, 0);
}
