/** What happened beside the actions of a browser and is told with the next answer: the first twenty, and how many more there were. */
export class BrowserNotes {
  #notes: string[] = [];
  #left = 0;

  add(note: string): void {
    if (this.#notes.length < maxNotes) this.#notes.push(note);
    else this.#left += 1;
  }

  /** Unless it is among those that wait. */
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
