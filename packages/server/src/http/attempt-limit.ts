import type { FastifyRequest } from "fastify";
import { Fault } from "../lib/fault.ts";
import { isIssuedForm } from "../security/issued-key.ts";
import type { createClientAddress } from "./public-address.ts";
import { WrongAttempts } from "./wrong-attempts.ts";

/** Refuses a client whose address has failed too often. */
export function tooManyAttempts(waitMs: number): Fault {
  const retryAfterSeconds = Math.ceil(waitMs / 1_000);
  const sentence = `Too many wrong attempts from this address. Try again in ${retryAfterSeconds} seconds.`;
  return new Fault("too-many", "too_many_attempts", sentence, [], { retryAfterSeconds });
}

/** Limits failed attempts to authenticate, by the address of the client. */
export class AttemptLimit {
  readonly #addressOf: ReturnType<typeof createClientAddress>;
  #attempts = new WrongAttempts(Date.now);
  /** Addresses whose refusal is in the audit log, with the end of their wait. */
  readonly #recorded = new Map<string, number>();

  constructor(addressOf: ReturnType<typeof createClientAddress>) {
    this.#addressOf = addressOf;
  }

  /** Takes the counts that the processes behind one port share. */
  open(attempts: WrongAttempts): void {
    this.#attempts = attempts;
  }

  /**
   * What `find` finds for a key that the client sent. While its address must wait, `find` is told to
   * compare no configured key, because those alone may be guessed: users with issued keys and logins behind the same address
   * go on. Throws {@link tooManyAttempts} when it finds nothing then.
   */
  find<Found>(
    request: FastifyRequest,
    given: string,
    find: (isLimited: boolean) => Found | null,
  ): Found | null {
    const address = this.#addressOf(request);
    const waitMs = this.#attempts.waitMs(address);
    const found = find(waitMs > 0);
    if (found !== null) return found;
    if (waitMs > 0) throw this.#refuse(request, address, waitMs);
    // Such a key cannot be guessed: it has ended, or this server does not know it yet.
    if (!isIssuedForm(given)) this.#attempts.note(address, given);
    return null;
  }

  /** The audit log has the first refusal of a wait. */
  #refuse(request: FastifyRequest, address: string, waitMs: number): Fault {
    const nowMs = Date.now();
    for (const [other, endMs] of this.#recorded) if (endMs <= nowMs) this.#recorded.delete(other);
    if (!this.#recorded.has(address)) request.isRefused = true;
    if (!this.#recorded.has(address)) this.#recorded.set(address, nowMs + waitMs);
    return tooManyAttempts(waitMs);
  }
}
