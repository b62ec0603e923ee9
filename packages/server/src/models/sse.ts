/** One server-sent event. */
export type ServerSentEvent = { readonly event: string; readonly data: string };

/**
 * Decodes a byte stream of server-sent events, however it is cut. An unfinished event at the end is delivered too, so
 * that the reader can tell a broken answer from a missing one. Source of the grammar: WHATWG HTML, server-sent events.
 */
export async function* decodeEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  let event = "";
  let data: string[] = [];
  for await (const line of decodeLines(chunks)) {
    if (line === "") {
      if (data.length > 0) yield { event, data: data.join("\n") };
      event = "";
      data = [];
      continue;
    }
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /u, "");
    if (field === "data") data.push(value);
    else if (field === "event") event = value;
  }
  if (data.length > 0) yield { event, data: data.join("\n") };
}

/** Lines end with LF, CRLF or CR. Pieces of one line are joined once, so that long lines cost linear time. */
async function* decodeLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let isAfterReturn = false;
  for await (const chunk of chunks) {
    let text = decoder.decode(chunk, { stream: true });
    if (isAfterReturn && text !== "") {
      if (text.startsWith("\n")) text = text.slice(1);
      isAfterReturn = false;
    }
    let start = 0;
    for (const match of text.matchAll(/\r\n|\n|\r/gu)) {
      pieces.push(text.slice(start, match.index));
      yield pieces.join("");
      pieces = [];
      start = match.index + match[0].length;
    }
    isAfterReturn ||= text.endsWith("\r");
    if (start < text.length) pieces.push(text.slice(start));
  }
  const rest = pieces.join("") + decoder.decode();
  if (rest !== "") yield rest;
}
