import { Fault } from "../../lib/fault.ts";

/** The limit for one user at one server process. Clients that need more start conversations and follow them. */
export const maxChatRuns = 64;

/** The active runs that chats have begun, by user. */
export class ChatRuns<Run> {
  readonly #isAtWork: (run: Run) => boolean;
  readonly #runs = new Map<string, Set<Run>>();

  constructor(isAtWork: (run: Run) => boolean) {
    this.#isAtWork = isAtWork;
  }

  /** Begins one more; throws a fault when there are too many. */
  async begin(userId: string, run: Run, begin: () => Promise<void>): Promise<void> {
    const runs = this.#runs.get(userId) ?? new Set();
    for (const known of runs) if (!this.#isAtWork(known)) runs.delete(known);
    if (runs.size >= maxChatRuns && !runs.has(run)) throw tooManyRuns();
    this.#runs.set(userId, runs);
    runs.add(run);
    await begin();
  }
}

function tooManyRuns(): Fault {
  return new Fault(
    "too-many",
    "too_many_runs",
    `${maxChatRuns} chats of yours are being answered. Wait for one of them to end, or end one.`,
  );
}
