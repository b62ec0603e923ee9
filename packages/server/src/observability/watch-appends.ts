import type { Journal } from "../journal/journal.ts";
import type { Observer } from "./observer.ts";

/** The journal itself, except that it is measured how long events take to become durable. */
export function watchAppends(journal: Journal, observer: Observer): Journal {
  const append: Journal["append"] = async (lease, batch) => {
    const startMs = performance.now();
    await journal.append(lease, batch);
    observer.appended(performance.now() - startMs);
  };
  return new Proxy(journal, {
    get: (target, property) => {
      if (property === "append") return append;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
