import { Cell } from "../lib/store.ts";
import type { Keep } from "../lib/keep.ts";

export type Login = "unknown" | "in" | "out";

const proofKey = "proof";

/**
 * Whether this browser is logged in. A login has two halves: a cookie that no script can read, and this proof, which only pages of
 * this origin can; neither opens anything alone.
 */
export class LoginState {
  readonly status = new Cell<Login>("unknown");
  readonly #keep: Keep;

  constructor(keep: Keep) {
    this.#keep = keep;
  }

  get proof(): string | null {
    const proof = this.#keep.read(proofKey);
    return typeof proof === "string" ? proof : null;
  }

  enter(proof: string): void {
    this.#keep.write(proofKey, proof);
    this.status.set("in");
  }

  leave(): void {
    this.#keep.remove(proofKey);
    this.status.set("out");
  }
}
