/** Values as lines of JSON. */
export async function* toJsonLines(values: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  for await (const value of values) yield Buffer.from(`${JSON.stringify(value)}\n`);
}

/** Maximum length of a line in bytes, larger than any input or update; the largest is a picture of a page. */
export const longestShownLine = 8 * 1024 * 1024;

/** Parses lines of JSON from the other side of a connection; rejects when a line is longer than `longestLine`. */
export async function* fromJsonLines<T>(
  content: AsyncIterable<Buffer>,
  longestLine = Infinity,
): AsyncGenerator<T> {
  const parts: Buffer[] = [];
  let waiting = 0;
  for await (const bytes of content) {
    let start = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      const line = Buffer.concat([...parts, bytes.subarray(start, end)]).toString("utf8");
      yield JSON.parse(line) as T;
      parts.length = 0;
      waiting = 0;
      start = end + 1;
    }
    if (start === bytes.length) continue;
    parts.push(bytes.subarray(start));
    waiting += bytes.length - start;
    if (waiting > longestLine) throw new Error("The other side sent a line that is too long.");
  }
}
