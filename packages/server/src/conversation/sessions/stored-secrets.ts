import type { ConversationRow } from "../../journal/journal.ts";
import { Fault } from "../../lib/fault.ts";
import type { Logger } from "../../lib/logger.ts";
import { SealError, type SecretBox } from "../../security/seal.ts";
import type { ConversationSecrets } from "../conversation-config.ts";
import { secretsUnreadable } from "../refusals.ts";

export const noSecrets: ConversationSecrets = { llm: {}, sources: {} };

export type StoredSecretsDeps = {
  readonly secretBox: SecretBox;
  readonly logger: Logger;
  /** The server's own keys, which no conversation shows. */
  readonly serverKeys?: readonly string[];
};

/** The secrets of conversations as they are stored: sealed. */
export class StoredSecrets {
  readonly #deps: StoredSecretsDeps;

  constructor(deps: StoredSecretsDeps) {
    this.#deps = deps;
  }

  /** Fails with `secrets_unreadable`. */
  unseal(row: ConversationRow): ConversationSecrets {
    const { secretBox, serverKeys = [] } = this.#deps;
    if (row.sealedSecrets === null) return { ...noSecrets, serverKeys };
    try {
      return { ...(JSON.parse(secretBox.unseal(row.sealedSecrets)) as ConversationSecrets), serverKeys };
    } catch (error) {
      throw error instanceof SealError ? secretsUnreadable(row.id) : error;
    }
  }

  /** A conversation whose secrets cannot be opened is still listed and read; only working with it is refused (P8). */
  forShow(row: ConversationRow): ConversationSecrets {
    try {
      return this.unseal(row);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.#deps.logger.warn({ conversation: row.id, code: error.code }, "secrets cannot be opened");
      return noSecrets;
    }
  }
}
