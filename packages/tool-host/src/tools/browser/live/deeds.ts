const maxDeeds = 40;
const longestAddress = 200;

/** Summary of what a person did in a browser, without typed text and without query strings. */
export class Deeds {
  readonly #deeds: { readonly text: string; count: number }[] = [];
  #typed: { readonly where: string; count: number } | undefined;
  #leftOut = 0;

  clicked(name: string): void {
    this.#add(`clicked ${name}`);
  }

  /** `where` is the name of the field. */
  typed(where: string, count: number): void {
    if (this.#typed?.where !== where) this.#endTyping();
    this.#typed ??= { where, count: 0 };
    this.#typed.count += count;
  }

  pressed(key: string): void {
    this.#add(`pressed ${key}`);
  }

  scrolled(): void {
    this.#add("scrolled");
  }

  arrived(url: string): void {
    this.#add(`came to ${shortAddress(url)}`);
  }

  wentToTab(url: string): void {
    this.#add(`went to the tab ${shortAddress(url)}`);
  }

  /** Empty when nothing was done. */
  toString(): string {
    this.#endTyping();
    const texts = this.#deeds.map(({ text, count }) => (count === 1 ? text : `${text} (${count} times)`));
    if (this.#leftOut > 0) texts.push(`and ${this.#leftOut} more`);
    return texts.join("; ");
  }

  #endTyping(): void {
    const typed = this.#typed;
    this.#typed = undefined;
    if (typed === undefined) return;
    this.#add(`typed ${typed.count} ${typed.count === 1 ? "character" : "characters"} into ${typed.where}`);
  }

  #add(text: string): void {
    this.#endTyping();
    const last = this.#deeds.at(-1);
    if (last?.text === text) last.count += 1;
    else if (this.#deeds.length < maxDeeds) this.#deeds.push({ text, count: 1 });
    else this.#leftOut += 1;
  }
}

function shortAddress(given: string): string {
  const url = URL.parse(given);
  if (url === null || !/^(?:https?|file):$/.test(url.protocol)) return given.split(/[,?#]/)[0]!.slice(0, 40);
  return `${url.origin}${url.pathname}`.slice(0, longestAddress);
}
