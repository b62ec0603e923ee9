import type { LLM } from "@convoke/protocol";
import type { ConversationConfig, ConversationSecrets } from "../engine/conversation-config.ts";
import type { Models } from "../engine/ports.ts";
import type { Model } from "../models/model.ts";
import { meteredModel } from "../spending/metered-model.ts";
import type { Purchase } from "../spending/budget-guard.ts";
import type { DirectoryDeps } from "./directory-deps.ts";

/** Whose money a conversation spends. */
export type Account = Omit<Purchase, "maxCost">;

/** The models of one conversation: of its owner, and paid for by the account. */
export class OwnedModels implements Models {
  readonly #deps: Pick<DirectoryDeps, "budgetGuard" | "models" | "storedModels">;
  readonly #account: Account;

  constructor(deps: Pick<DirectoryDeps, "budgetGuard" | "models" | "storedModels">, account: Account) {
    this.#deps = deps;
    this.#account = account;
  }

  open(config: ConversationConfig, secrets: ConversationSecrets): Model {
    const { budgetGuard, models } = this.#deps;
    const model = models.open(config, secrets, this.#account.userId);
    return meteredModel(model, config.agent.llm, { budgetGuard, ...this.#account });
  }

  async findStored(name: string): Promise<LLM | null> {
    return await this.#deps.storedModels.find(this.#account.userId, name);
  }
}
