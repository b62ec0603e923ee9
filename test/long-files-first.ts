import { basename } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Short files with long tests, by processor time. Without times of an earlier run, files are started by their size. */
const long = ["web-hostile.e2e.test.ts"];

/** Starts files that would keep one worker busy behind all others before the rest. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => long.includes(basename(moduleId));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
