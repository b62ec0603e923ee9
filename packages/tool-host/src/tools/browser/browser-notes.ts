/** Events beside the actions of a browser, reported with the next answer: the first twenty, and the number of further ones. */
export class BrowserNotes {
  #notes: string[] = [];
  #left = 0;

  add(note: string): void {
    if (this.#notes.length < maxNotes) this.#notes.push(note);
    else this.#left += 1;
  }

  /** Adds the note unless it is already waiting. */
  addOnce(note: string): void {
    if (!this.#notes.includes(note)) this.add(note);
  }

  drop(pattern: RegExp): void {
    this.#notes = this.#notes.filter((note) => !pattern.test(note));
  }

  take(): readonly string[] {
    const notes =
      this.#left === 0 ? this.#notes : [...this.#notes, `${this.#left} more notes were left out.`];
    this.#notes = [];
    this.#left = 0;
    return notes;
  }
}

/** A page can show dialogs for ever. */
const maxNotes = 20;
