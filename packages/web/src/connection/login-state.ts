import { Cell } from "../lib/store.ts";
import type { BrowserStorage } from "../lib/browser-storage.ts";

/** `lapsed`: the login ended while the page was in use; what is on the screen stays there until somebody logs in again. */
export type Login = "unknown" | "in" | "lapsed" | "out";

const proofKey = "proof";
const userKey = "user";

/**
 * Whether this browser is logged in. A login has two halves: a cookie that no script can read, and this proof, which only pages of
 * this origin can; neither opens anything alone.
 */
export class LoginState {
  readonly status = new Cell<Login>("unknown");
  readonly #storage: BrowserStorage;
  /** Whose the page is: what it has read is theirs. */
  #user: unknown;

  constructor(storage: BrowserStorage) {
    this.#storage = storage;
    this.#user = storage.read(userKey);
  }

  get proof(): string | null {
    const proof = this.#storage.read(proofKey);
    return typeof proof === "string" ? proof : null;
  }

  /** Whose the page is; null where nobody logged in by name, as on a server without keys. */
  get user(): string | null {
    return typeof this.#user === "string" ? this.#user : null;
  }

  /** False when the page still shows what somebody else has read: it is to be loaded anew. */
  enter(proof: string, user: string): boolean {
    const isSame = this.#user === user || (this.#user === undefined && this.status.snapshot() !== "lapsed");
    this.#user = user;
    // The proof last: other tabs look at both when it changes.
    this.#storage.write(userKey, user);
    this.#storage.write(proofKey, proof);
    this.status.set("in");
    return isSame;
  }

  /** Another tab of this browser has logged in: the same as {@link enter} here. */
  adoptLogin(): boolean {
    const user = this.#storage.read(userKey);
    return this.proof === null || typeof user !== "string" || this.enter(this.proof, user);
  }

  /** The server does not know the login with this proof, or does not know it any more. A newer one may be there by now. */
  refuse(proof: string | null): void {
    if (proof !== this.proof) return;
    const status = this.status.snapshot();
    if (status === "in") this.status.set("lapsed");
    else if (status === "unknown") this.status.set("out");
  }

  leave(): void {
    this.#storage.remove(proofKey);
    this.status.set("out");
  }
}
