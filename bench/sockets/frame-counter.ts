/** Counts the text frames of a WebSocket stream without storing payloads, so that a client is cheap. */
export class FrameCounter {
  readonly #onText: () => void;
  readonly #onPing: () => void;
  readonly #header = new Uint8Array(10);
  #headerLength = 0;
  #payloadLeft = 0;
  #opcode = 0;

  constructor(deps: { readonly onText: () => void; readonly onPing: () => void }) {
    this.#onText = deps.onText;
    this.#onPing = deps.onPing;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#payloadLeft > 0) {
        const taken = Math.min(this.#payloadLeft, chunk.length - at);
        this.#payloadLeft -= taken;
        at += taken;
        if (this.#payloadLeft === 0) this.#end();
      } else {
        this.#header[this.#headerLength] = chunk[at] ?? 0;
        this.#headerLength += 1;
        at += 1;
        this.#readHeader();
      }
    }
  }

  #readHeader(): void {
    if (this.#headerLength < 2) return;
    const header = this.#header;
    const short = header[1] ?? 0;
    const length = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (this.#headerLength < length) return;
    let size = 0;
    for (let index = 2; index < length; index += 1) size = size * 256 + (header[index] ?? 0);
    this.#headerLength = 0;
    this.#opcode = (header[0] ?? 0) & 0x0f;
    this.#payloadLeft = length === 2 ? short : size;
    if (this.#payloadLeft === 0) this.#end();
  }

  #end(): void {
    if (this.#opcode === 1) this.#onText();
    else if (this.#opcode === 8) throw new Error("The server closed a socket of the bench.");
    else if (this.#opcode === 9) this.#onPing();
  }
}
