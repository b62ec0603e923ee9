import { Cell } from "../lib/store.ts";
import type { BrowserStorage } from "../lib/browser-storage.ts";

/** `lapsed`: the login ended while the page was open; the screen stays until the next login. */
export type Login = "unknown" | "in" | "lapsed" | "out";

const proofKey = "proof";
const userKey = "user";

/**
 * The login of this browser. It has two halves: an HttpOnly cookie, and this proof in the origin's storage; neither
 * works alone.
 */
export class LoginState {
  readonly status = new Cell<Login>("unknown");
  readonly #storage: BrowserStorage;
  /** The user whose data the page shows. */
  #user: unknown;

  constructor(storage: BrowserStorage) {
    this.#storage = storage;
    this.#user = storage.read(userKey);
  }

  get proof(): string | null {
    const proof = this.#storage.read(proofKey);
    return typeof proof === "string" ? proof : null;
  }

  /** The user of the page; null without named users, as on a server without keys. */
  get user(): string | null {
    return typeof this.#user === "string" ? this.#user : null;
  }

  /** False if the page shows data of another user and must be reloaded. */
  enter(proof: string, user: string): boolean {
    const isSame = this.#user === user || (this.#user === undefined && this.status.snapshot() !== "lapsed");
    this.#user = user;
    // The proof last: other tabs read both when it changes.
    this.#storage.write(userKey, user);
    this.#storage.write(proofKey, proof);
    this.status.set("in");
    return isSame;
  }

  /** Another tab has logged in: same effect as {@link enter} here. */
  adoptLogin(): boolean {
    const user = this.#storage.read(userKey);
    return this.proof === null || typeof user !== "string" || this.enter(this.proof, user);
  }

  /** The server rejected the login with this proof. A newer proof may be stored by now. */
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
