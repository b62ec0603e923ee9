import { openSync, closeSync, fstatSync, readSync, writeSync } from "node:fs";
import type { Random } from "./random.ts";

const kinds = ["zeroed", "random", "swapped"] as const;
/** Size of a SQLite page, a file system block and a disk sector, in bytes. */
const sizes = [16_384, 4_096, 512];

/**
 * Damages one to three places of a file as disks do: whole blocks become zeros or random, or are swapped. The first page stays, because
 * without it the file is not a database. Returns a description.
 */
export function damagePages(path: string, random: Random): string {
  const file = openSync(path, "r+");
  try {
    const { size } = fstatSync(file);
    const done: string[] = [];
    for (let left = 1 + random.whole(3); left > 0; left -= 1) {
      const kind = kinds[random.whole(kinds.length)]!;
      const bytes = sizes[random.whole(sizes.length)]!;
      const choose = (): number => 16_384 + bytes * random.whole(Math.floor((size - 16_384) / bytes));
      const [at, other] = [choose(), choose()];
      done.push(`${kind} ${bytes} at ${at}${kind === "swapped" ? ` and ${other}` : ""}`);
      if (kind === "swapped") {
        const [one, two] = [readAt(file, at, bytes), readAt(file, other, bytes)];
        writeSync(file, two, 0, bytes, at);
        writeSync(file, one, 0, bytes, other);
      } else {
        const fill = kind === "zeroed" ? () => 0 : () => random.whole(256);
        writeSync(file, Uint8Array.from({ length: bytes }, fill), 0, bytes, at);
      }
    }
    return done.join(", ");
  } finally {
    closeSync(file);
  }
}

function readAt(file: number, at: number, bytes: number): Uint8Array {
  const content = new Uint8Array(bytes);
  readSync(file, content, 0, bytes, at);
  return content;
}
