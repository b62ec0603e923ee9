import { readFileSync } from "node:fs";
import path from "node:path";
import { listSourceFiles } from "./source-files.ts";

const noteAbove = 300;
const failFrom = 500;
const folders = ["packages", "scripts", "bench", "e2e", ".ci"];
const extensions = [".ts", ".tsx", ".js", ".mjs", ".css", ".sh", ".sql"];

export type FileLengthReport = {
  readonly fileCount: number;
  /** Files of 500 lines or more, `path (lines)`, longest first. */
  readonly tooLong: readonly string[];
  /** Files of more than 300 lines that still pass. */
  readonly notes: readonly string[];
};

/** Counts the lines of every hand-written source below `root`. */
export function checkFileLength(root: string): FileLengthReport {
  const lengths = listSourceFiles(root, folders, extensions)
    .map((file) => ({ file, lines: countLines(readFileSync(path.join(root, file), "utf8")) }))
    .toSorted((left, right) => right.lines - left.lines || left.file.localeCompare(right.file));
  const show = ({ file, lines }: { file: string; lines: number }): string => `${file} (${lines})`;
  return {
    fileCount: lengths.length,
    tooLong: lengths.filter(({ lines }) => lines >= failFrom).map(show),
    notes: lengths.filter(({ lines }) => lines > noteAbove && lines < failFrom).map(show),
  };
}

function countLines(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

if (import.meta.main) {
  const report = checkFileLength(path.resolve(import.meta.dirname, ".."));
  for (const file of report.tooLong) console.error(`too long: ${file}: split it below ${failFrom} lines`);
  for (const file of report.notes) console.log(`note: ${file}: think about splitting`);
  console.log(`${report.fileCount} files`);
  if (report.tooLong.length > 0 || report.fileCount === 0) process.exitCode = 1;
}
