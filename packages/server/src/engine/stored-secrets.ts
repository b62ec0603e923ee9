import type { ConversationRow } from "../journal/journal.ts";
import { Fault } from "../lib/fault.ts";
import type { Logger } from "../lib/logger.ts";
import { SealError, type SecretBox } from "../security/seal.ts";
import { toStored, type ConversationSecrets } from "./conversation-config.ts";
import { withNewPlaceholders } from "./bound-secrets.ts";
import { addCleared, clearSecrets } from "./clear-secrets.ts";
import { readStoredConfig } from "./read-config.ts";
import { secretsUnreadable } from "./refusals.ts";

export const noSecrets: ConversationSecrets = { llm: {}, sources: {} };

export type StoredSecretsDeps = {
  readonly secretBox: SecretBox;
  readonly logger: Logger;
  /** The server's own keys, masked in every conversation. */
  readonly serverKeys: readonly string[];
};

/** The sealed secrets of conversations. */
export class StoredSecrets {
  readonly #deps: StoredSecretsDeps;

  constructor(deps: StoredSecretsDeps) {
    this.#deps = deps;
  }

  /** Fails with `secrets_unreadable`. */
  unseal(row: ConversationRow): ConversationSecrets {
    const { secretBox, serverKeys } = this.#deps;
    if (row.sealedSecrets === null) return { ...noSecrets, serverKeys };
    try {
      return { ...(JSON.parse(secretBox.unseal(row.sealedSecrets)) as ConversationSecrets), serverKeys };
    } catch (error) {
      throw error instanceof SealError ? secretsUnreadable(row.id) : error;
    }
  }

  /**
   * The secrets that replace those in the configuration of a row of an earlier version; null for other rows. Throws
   * as `unseal` does.
   */
  sealOlder(row: ConversationRow): Pick<ConversationRow, "config" | "sealedSecrets"> | null {
    const stored = readStoredConfig(row);
    const cleared = stored === null ? null : clearSecrets(stored);
    if (cleared === null) return null;
    const secrets = toStored(addCleared(this.unseal(row), cleared.secrets));
    return {
      config: JSON.stringify(cleared.config),
      sealedSecrets: this.#deps.secretBox.seal(JSON.stringify(secrets)),
    };
  }

  /** The sealed secrets of a row for its fork, which has placeholders of its own. What cannot be unsealed is copied as it is (P8). */
  sealForFork(row: ConversationRow): string | null {
    const secrets = this.forShow(row);
    if (row.sealedSecrets === null || secrets.placeholders === undefined) return row.sealedSecrets;
    const renewed = toStored(withNewPlaceholders(secrets));
    return this.#deps.secretBox.seal(JSON.stringify(renewed));
  }

  /** A conversation whose secrets cannot be unsealed is still listed and read; work with it is refused (P8). */
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
