/** What one who looks on gets. */
export type Watcher<Update> = {
  /** Null when there is nothing more to come. */
  readonly next: () => Promise<Update | null>;
  readonly end: () => void;
};

/** What a person is attached to; a person is any object. */
export type Attachable<Input, Update> = {
  watch(person: object): Watcher<Update>;
  /** Why it cannot be done; null when it was. */
  act(person: object, input: Input): Promise<string | null> | string | null;
  refuse(person: object, reason: string): void;
  /** Gives back whatever the person has. */
  leave(person: object): Promise<void> | void;
};

/** What one person sees, until `signal` aborts, the inputs end or the thing does; whatever they have is given back by that. */
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
    // Inputs that break are a person who left.
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
