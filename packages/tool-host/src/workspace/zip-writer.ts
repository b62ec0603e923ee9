import { pipeline } from "node:stream";
import { promisify } from "node:util";
import { crc32, createDeflateRaw, deflateRaw } from "node:zlib";
import type { Zip, ZipInputFile } from "fflate";

export type ZipFile = {
  readonly name: string;
  /** Whole, or in chunks of a file that may be larger than memory. */
  readonly content: Uint8Array | AsyncIterable<Uint8Array>;
  /** Type and permissions, as in `stat`. */
  readonly mode: number;
  readonly modifiedAtMs: number;
};

/** The first moment that the format can name. */
export const firstZipTimeMs = Date.UTC(1980, 0, 1);
const lastZipTimeMs = Date.UTC(2099, 11, 31);

/** What the plain form of the format can hold: counts of two bytes, offsets and lengths of four. */
const maxFiles = 0xffff;
const maxBytes = 0xffff_ffff;
const deflated = 8;
const unix = 3;
const directoryFlag = 0x10;

/** The library is loaded with the first archive. */
export async function openZipWriter(): Promise<ZipWriter> {
  const library = await import("./zip-library.ts");
  return new ZipWriter((onChunk) => new library.Zip(onChunk));
}

/** A ZIP archive, file by file. Its chunks come while the content is read, and zlib compresses off the event loop. */
export class ZipWriter {
  readonly #zip: Zip;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #files = 0;

  constructor(createZip: (onChunk: Zip["ondata"]) => Zip) {
    this.#zip = createZip((error, chunk) => {
      if (error !== null) throw error;
      this.#bytes += chunk.length;
      this.#chunks.push(chunk);
    });
  }

  /** Whether so many bytes and so many files more fit before 4 GiB and 65,535 files. */
  hasRoomFor(bytes: number, files: number): boolean {
    return this.#bytes + bytes <= maxBytes && this.#files + files <= maxFiles;
  }

  /** The chunks of one file. Throws a RangeError when the archive has become larger than the format can say. */
  async *add({ name, content, mode, modifiedAtMs }: ZipFile): AsyncGenerator<Uint8Array> {
    const file: ZipInputFile = {
      filename: name,
      size: 0,
      crc: 0,
      compression: deflated,
      os: unix,
      // Systems without these modes read the one bit that says directory.
      attrs: ((mode << 16) | (name.endsWith("/") ? directoryFlag : 0)) >>> 0,
      mtime: toLocalTime(modifiedAtMs),
    };
    this.#files += 1;
    this.#zip.add(file);
    for await (const chunk of pack(content, file)) {
      file.ondata?.(null, chunk, false);
      yield* this.#take();
    }
    file.ondata?.(null, new Uint8Array(0), true);
    yield* this.#take();
    if (!this.hasRoomFor(0, 0)) throw new RangeError("The archive is too large for the ZIP format.");
  }

  /** The directory of the archive, which is its last chunk. */
  *end(): Generator<Uint8Array> {
    this.#zip.end();
    yield* this.#take();
  }

  *#take(): Generator<Uint8Array> {
    const chunks = this.#chunks;
    this.#chunks = [];
    yield* chunks;
  }
}

const deflate = promisify(deflateRaw);

/** The packed bytes; length and checksum of the plain ones are written to `file`. */
function pack(
  content: ZipFile["content"],
  file: ZipInputFile,
): Iterable<Promise<NonSharedBuffer>> | AsyncIterable<NonSharedBuffer> {
  if (content instanceof Uint8Array) {
    measure(content, file);
    return [deflate(content)];
  }
  // A failure of the content is thrown where the packed bytes are read.
  const packed = pipeline(measured(content, file), createDeflateRaw(), () => undefined);
  return packed as AsyncIterable<NonSharedBuffer>;
}

async function* measured(content: AsyncIterable<Uint8Array>, file: ZipInputFile): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    measure(chunk, file);
    yield chunk;
  }
}

function measure(chunk: Uint8Array, file: ZipInputFile): void {
  file.crc = crc32(chunk, file.crc);
  file.size += chunk.length;
}

/** The library writes the time of this machine's zone; archives of the same content are to be the same everywhere. */
function toLocalTime(atMs: number): Date {
  const at = new Date(Math.min(Math.max(atMs, firstZipTimeMs), lastZipTimeMs));
  const day = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()] as const;
  return new Date(...day, at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds());
}
