import type { Keep } from "../lib/keep.ts";
import { asLoose } from "../lib/loose.ts";

export const newsKinds = ["asks", "done", "failed"] as const;

/** Which news this browser shall notify of. */
export type Wishes = Readonly<Record<(typeof newsKinds)[number], boolean>>;

const key = "notify";

/** None until somebody asks for them. */
export function readWishes(keep: Keep): Wishes {
  const kept = asLoose(keep.read(key));
  return { asks: kept?.["asks"] === true, done: kept?.["done"] === true, failed: kept?.["failed"] === true };
}

export function writeWishes(keep: Keep, wishes: Wishes): void {
  keep.write(key, wishes);
}
