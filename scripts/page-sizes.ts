import path from "node:path";
import { gzipSync } from "node:zlib";
import type { BuiltPage } from "./web-page.ts";

/** What a browser loads before the first conversation is readable. */
export type PageSizes = {
  /** Gzipped bytes. */
  readonly script: number;
  readonly style: number;
  /** The modules in the scripts, relative to the root, and the bytes of each, largest first. */
  readonly modules: readonly (readonly [file: string, bytes: number])[];
};

export function pageSizes(root: string, { firstChunks, assets }: BuiltPage): PageSizes {
  const styles = assets.filter(({ fileName }) => fileName.endsWith(".css"));
  return {
    script: sum(firstChunks.map(({ code }) => gzipSync(code).length)),
    style: sum(styles.map(({ source }) => gzipSync(source).length)),
    modules: firstChunks
      .flatMap((chunk) => Object.entries(chunk.modules))
      .map(([file, { renderedLength }]) => [path.relative(root, file), renderedLength] as const)
      .toSorted(([, left], [, right]) => right - left),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
