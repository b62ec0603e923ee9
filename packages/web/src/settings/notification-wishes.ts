import type { Keep } from "../lib/keep.ts";
import { asLoose } from "../lib/loose.ts";

export const newsKinds = ["asks", "done", "failed"] as const;

/** Which news this browser shall notify of. */
export type Wishes = Readonly<Record<(typeof newsKinds)[number], boolean>>;

const key = "notify";

/** None until somebody asks for them. */
export function readWishes(keep: Keep): Wishes {
  const stored = asLoose(keep.read(key));
  return {
    asks: stored?.["asks"] === true,
    done: stored?.["done"] === true,
    failed: stored?.["failed"] === true,
  };
}

export function writeWishes(keep: Keep, wishes: Wishes): void {
  keep.write(key, wishes);
}
