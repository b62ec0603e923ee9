import type { UserRole } from "@convoke/protocol";
import type { SandboxAccess } from "../../app-conversations/sandbox-service.ts";
import type { KeyRing, LoginHalves } from "../../http/auth.ts";
import type { Caller } from "../../security/caller.ts";
import { lesserRole } from "../../security/roles.ts";
import { isSameSecret } from "../../security/same-secret.ts";

/** The server's keys, and the sandbox's own, whose caller is the sandbox's owner. */
export class SandboxKeyRing implements KeyRing {
  readonly #keys: KeyRing;
  readonly #sandboxes: SandboxAccess;
  readonly #sandboxId: string;

  constructor(keys: KeyRing, sandboxes: SandboxAccess, sandboxId: string) {
    this.#keys = keys;
    this.#sandboxes = sandboxes;
    this.#sandboxId = sandboxId;
  }

  get isOpen(): boolean {
    return this.#keys.isOpen;
  }

  identify(key: string, isLimited = false): Caller | null {
    const ownerId = this.#sandboxes.ownerOf(this.#sandboxId);
    const isOwn = isSameKey(key, this.#sandboxes.sessionKey(this.#sandboxId));
    if (!isOwn || ownerId === null) return this.#keys.identify(key, isLimited);
    return { userId: ownerId, role: lesserRole("member", this.roleOfUser(ownerId)), means: "sandbox key" };
  }

  identifyLogin(halves: LoginHalves): Caller | null {
    return this.#keys.identifyLogin(halves);
  }

  roleOfUser(userId: string): UserRole {
    return this.#keys.roleOfUser(userId);
  }

  isStillGood(caller: Caller): boolean {
    return this.#sandboxes.ownerOf(this.#sandboxId) !== null && this.#keys.isStillGood(caller);
  }
}

/** False where there is no key. */
export function isSameKey(given: string, known: string | null): boolean {
  return known !== null && isSameSecret(given, known);
}
