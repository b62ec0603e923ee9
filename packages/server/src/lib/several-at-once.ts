/**
 * Runs the work for each item, at most `max` at a time, in order. After a failure no work is started; rejects with the
 * first failure once all running work has ended.
 */
export async function severalAtOnce<Item>(
  items: Iterable<Item>,
  max: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true && !hasFailed; next = left.next()) {
      try {
        await work(next.value);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: max }, worker));
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}
