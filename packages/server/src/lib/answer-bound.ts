import { countJsonValues, mostJsonValues } from "@convoke/protocol";

export type AnswerBoundOptions = {
  /** True for a stream of events, of which each has the limits for itself; else they are those of the whole. */
  readonly isStream: boolean;
  readonly mostBytes: number;
};

/** What went over the limit. */
export type Excess = "bytes" | "values";

/**
 * Watches the bytes of a JSON answer, or of a stream of events with JSON, on their way to a library that reads them: neither
 * their number nor that of the values in them, which are parsed in one piece, may stop the server.
 */
export class AnswerBound {
  readonly #options: AnswerBoundOptions;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  /** In the lines that are complete. */
  #values = 1;
  /** The line feed of a CRLF ends no second line. */
  #isAfterReturn = false;

  constructor(options: AnswerBoundOptions) {
    this.#options = options;
  }

  /** Tells, before the bytes are passed on, what they have too many of. */
  push(bytes: Uint8Array): Excess | null {
    let start = 0;
    for (const end of lineEnds(bytes)) {
      const isSameEnd = bytes[end] === lineFeed && end === start && this.#isAfterReturn;
      this.#isAfterReturn = bytes[end] === carriageReturn;
      const excess = isSameEnd ? null : (this.#add(bytes.subarray(start, end)) ?? this.#endLine());
      if (excess !== null) return excess;
      start = end + 1;
    }
    if (start < bytes.length) this.#isAfterReturn = false;
    return this.#add(bytes.subarray(start));
  }

  /** To be called at the end of the whole answer, before its reader learns of that. */
  end(): Excess | null {
    return this.#endLine();
  }

  #add(part: Uint8Array): Excess | null {
    if (part.length === 0) return null;
    this.#bytes += part.length;
    if (this.#bytes > this.#options.mostBytes) return "bytes";
    this.#parts.push(part);
    return null;
  }

  /** A text in JSON never goes over the end of a line, so each line is counted by itself. */
  #endLine(): Excess | null {
    if (this.#parts.length === 0) {
      // An empty line ends an event.
      if (this.#options.isStream) [this.#bytes, this.#values] = [0, 1];
      return null;
    }
    const line = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#values += countJsonValues(line, mostJsonValues) - 1;
    return this.#values > mostJsonValues ? "values" : null;
  }
}

const lineFeed = 10;
const carriageReturn = 13;

/** Each byte is looked at once for each kind of end. */
function* lineEnds(bytes: Uint8Array): Generator<number> {
  let feed = bytes.indexOf(lineFeed);
  let back = bytes.indexOf(carriageReturn);
  while (feed !== -1 || back !== -1) {
    if (back === -1 || (feed !== -1 && feed < back)) {
      yield feed;
      feed = bytes.indexOf(lineFeed, feed + 1);
    } else {
      yield back;
      back = bytes.indexOf(carriageReturn, back + 1);
    }
  }
}
