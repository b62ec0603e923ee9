/** Updates for a person who watches. */
export type Watcher<Update> = {
  /** Resolves with null when no more updates come. */
  readonly next: () => Promise<Update | null>;
  readonly end: () => void;
};

/** Something that a person can be attached to; any object identifies a person. */
export type Attachable<Input, Update> = {
  watch(person: object): Watcher<Update>;
  /** Returns the reason for a refusal, or null. */
  act(person: object, input: Input): Promise<string | null> | string | null;
  refuse(person: object, reason: string): void;
  /** Gives back control if the person has it. */
  leave(person: object): Promise<void> | void;
};

/** Yields updates for one person until `signal` aborts, the inputs end or the attached thing ends. Then control is given back. */
export async function* attachPerson<Input, Update>(
  thing: Attachable<Input, Update>,
  inputs: AsyncIterable<Input>,
  signal: AbortSignal,
): AsyncGenerator<Update> {
  const person = {};
  const watcher = thing.watch(person);
  const over = new AbortController();
  const onAbort = (): void => watcher.end();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const reading = readInputs(thing, person, inputs, over.signal)
    // An input stream that breaks means that the person disconnected.
    .catch(() => {})
    .then(() => thing.leave(person))
    .finally(() => watcher.end());
  try {
    for (let update = await watcher.next(); update !== null; update = await watcher.next()) yield update;
  } finally {
    signal.removeEventListener("abort", onAbort);
    over.abort();
    watcher.end();
    await thing.leave(person);
    void reading;
  }
}

async function readInputs<Input, Update>(
  thing: Attachable<Input, Update>,
  person: object,
  inputs: AsyncIterable<Input>,
  over: AbortSignal,
): Promise<void> {
  for await (const input of inputs) {
    if (over.aborted) return;
    const reason = await thing.act(person, input);
    if (reason !== null) thing.refuse(person, reason);
  }
}
