/** A page ends with the event that makes it this long, in characters of JSON, whatever its limit; one event alone may be longer. */
export const maxPageCharacters = 16 * 1024 * 1024;

/** Rows until there are enough, so that a hundred large events are never in memory together. */
export class PageBound {
  #characters = 0;

  /** True when the page is long enough: what is read now belongs to the next one. */
  get isReached(): boolean {
    return this.#characters >= maxPageCharacters;
  }

  add(json: string): void {
    this.#characters += json.length;
  }
}

/** How many of the items, which may be more than a page, are on the first one. */
export function pageLength(items: readonly { readonly json: string }[], limit: number): number {
  const bound = new PageBound();
  let length = 0;
  for (const { json } of items) {
    if (length === limit || bound.isReached) return length;
    bound.add(json);
    length += 1;
  }
  return length;
}
