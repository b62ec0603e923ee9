import { countJsonValues, maxJsonValues } from "@convoke/protocol";

export type AnswerBoundOptions = {
  /** True for a stream of events: the limits then apply to each event, otherwise to the whole answer. */
  readonly isStream: boolean;
  readonly maxBytes: number;
};

/** The exceeded limit. */
export type Excess = "bytes" | "values";

/**
 * Checks the bytes of a JSON answer, or of a stream of JSON events, on their way to a library that parses them: neither
 * their number nor that of their values, which are parsed at once, may stall the server.
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

  /** Returns the limit that the bytes exceed, before they are passed on. */
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

  /** Call it at the end of the answer, before its reader gets the end. */
  end(): Excess | null {
    return this.#endLine();
  }

  #add(part: Uint8Array): Excess | null {
    if (part.length === 0) return null;
    this.#bytes += part.length;
    if (this.#bytes > this.#options.maxBytes) return "bytes";
    this.#parts.push(part);
    return null;
  }

  /** A JSON string never contains a line break, so lines are counted separately. */
  #endLine(): Excess | null {
    if (this.#parts.length === 0) {
      // An empty line ends an event.
      if (this.#options.isStream) [this.#bytes, this.#values] = [0, 1];
      return null;
    }
    const line = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#values += countJsonValues(line, maxJsonValues) - 1;
    return this.#values > maxJsonValues ? "values" : null;
  }
}

const lineFeed = 10;
const carriageReturn = 13;

/** Each byte is searched once for each kind of line end. */
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
