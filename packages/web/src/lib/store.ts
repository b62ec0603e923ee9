import { useSyncExternalStore } from "react";

/** An observable store; `snapshot` returns the same object until a change. */
export interface Store<Snapshot> {
  readonly snapshot: () => Snapshot;
  readonly subscribe: (onChange: () => void) => () => void;
}

export function useStore<Snapshot>(store: Store<Snapshot>): Snapshot {
  return useSyncExternalStore(store.subscribe, store.snapshot);
}

/** An observable value, the basis of other stores. */
export class Cell<Value> implements Store<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  readonly snapshot = (): Value => this.#value;

  readonly subscribe = (onChange: () => void): (() => void) => {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  };

  set(value: Value): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }
}
