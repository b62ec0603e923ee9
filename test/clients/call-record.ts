import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";

/** Results of all calls of one public method. */
export type Outcome = {
  /** `METHOD /path` of every request that its calls made, without the query. */
  readonly requests: Set<string>;
  /** At least one call succeeded. */
  hasWorked: boolean;
  /** The status of the last refusal; null for none, 0 when it was not a reply of the server. */
  refusedWith: number | null;
};

/** Records calls of the public methods of the client's objects, and the requests that this process sends meanwhile. */
export class CallRecord implements Disposable {
  /** By `Class.method`, with the class that defines the method. */
  readonly outcomes = new Map<string, Outcome>();
  readonly #classes: ReadonlySet<unknown>;
  readonly #current = new AsyncLocalStorage<Outcome>();

  constructor(classes: Iterable<unknown>) {
    this.#classes = new Set(classes);
    subscribe("undici:request:create", this.#onFetch);
    subscribe("http.client.request.created", this.#onRequest);
  }

  /** A proxy that records the calls of the object, and of the client's objects that it returns. */
  watch<Watched extends object>(watched: Watched): Watched {
    return new Proxy(watched, {
      get: (target, property) => {
        const owner = findOwner(target, property);
        if (typeof property === "symbol" || owner === null)
          return this.#watchResult(Reflect.get(target, property));
        const name = `${owner.name}.${property}`;
        const read = (): unknown => Reflect.get(target, property);
        if (owner.isAccessor) return this.#record(name, read);
        const method = read() as (...values: unknown[]) => unknown;
        return (...values: unknown[]) => this.#record(name, () => Reflect.apply(method, target, values));
      },
    });
  }

  [Symbol.dispose](): void {
    unsubscribe("undici:request:create", this.#onFetch);
    unsubscribe("http.client.request.created", this.#onRequest);
  }

  #record(name: string, act: () => unknown): unknown {
    const outcome = this.outcomes.get(name) ?? { requests: new Set(), hasWorked: false, refusedWith: null };
    this.outcomes.set(name, outcome);
    const fail = (error: unknown): never => {
      outcome.refusedWith = statusOf(error);
      throw error;
    };
    const succeed = (result: unknown): unknown => {
      outcome.hasWorked = true;
      return this.#watchResult(result);
    };
    return this.#current.run(outcome, () => {
      try {
        const result = act();
        return result instanceof Promise ? result.then(succeed, fail) : succeed(result);
      } catch (error) {
        return fail(error);
      }
    });
  }

  #watchResult(result: unknown): unknown {
    if (typeof result !== "object" || result === null) return result;
    return this.#classes.has(result.constructor) ? this.watch(result) : result;
  }

  readonly #onFetch = (message: unknown): void => {
    const { request } = message as { request: { method: string; path: string } };
    this.#note(request.method, request.path);
  };

  readonly #onRequest = (message: unknown): void => {
    const { request } = message as { request: ClientRequest };
    this.#note(request.method, request.path);
  };

  #note(method: string, path: string): void {
    this.#current.getStore()?.requests.add(`${method} ${path.replace(/\?.*$/, "")}`);
  }
}

function findOwner(target: object, property: PropertyKey): { name: string; isAccessor: boolean } | null {
  for (let holder: object = target; ;) {
    holder = Object.getPrototypeOf(holder) as object;
    if (holder === null || holder === Object.prototype) return null;
    const found = Object.getOwnPropertyDescriptor(holder, property);
    if (found !== undefined) return { name: holder.constructor.name, isAccessor: found.get !== undefined };
  }
}

function statusOf(error: unknown): number {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const status: unknown = Reflect.get(cause, "status");
    if (typeof status === "number") return status;
  }
  return 0;
}
