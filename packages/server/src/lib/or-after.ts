import { ended } from "./ended.ts";
import { wait } from "./wait.ts";

/** The task's outcome, or `otherwise` when it takes longer than `ms`; the task itself continues. */
export async function orAfter<Result, Otherwise>(
  task: Promise<Result>,
  ms: number,
  otherwise: Otherwise,
): Promise<Result | Otherwise> {
  const isOver = new AbortController();
  try {
    return await Promise.race([task, wait(ms, isOver.signal).then(() => otherwise)]);
  } finally {
    isOver.abort(ended);
  }
}
