import type { LLM } from "@convoke/protocol";
import { withCondenserSecrets, type CondenserSettings } from "../agent/condense/condenser-settings.ts";
import type { Logger } from "../lib/logger.ts";
import type { Model } from "../models/model.ts";
import { recordedModel } from "../spending/recorded-model.ts";
import type { ConversationConfig, ConversationSecrets } from "./conversation-config.ts";
import type { Configuration } from "./configuration.ts";
import type { ConversationLog } from "./conversation-log.ts";
import type { Models } from "./ports.ts";
import type { WorkQueue } from "./work-queue.ts";
import { addCalls } from "./state/stats.ts";

export type ConversationModelsDeps = {
  readonly id: string;
  readonly log: ConversationLog;
  readonly queue: WorkQueue;
  /** Read each time models are opened. */
  readonly configuration: Configuration;
  readonly models: Models;
  readonly logger: Logger;
};

/** The models of a conversation: the agent's, and others, each recorded under its own usage id. */
export class ConversationModels {
  readonly #deps: ConversationModelsDeps;
  #opened: {
    readonly config: ConversationConfig;
    readonly secrets: ConversationSecrets;
    readonly model: Model;
  } | null = null;

  constructor(deps: ConversationModelsDeps) {
    this.#deps = deps;
  }

  /**
   * The agent's model: the same instance until the configuration changes, with its connections and learned
   * adjustments.
   */
  openOwn(): Model {
    const { config, secrets } = this.#deps.configuration;
    if (this.#opened?.config !== config || this.#opened.secrets !== secrets)
      this.#opened = { config, secrets, model: this.#deps.models.open(config, secrets) };
    return this.#opened.model;
  }

  /** A model for a call outside the run, recorded under its own usage id; `other` has its own credentials. */
  openHelper(usageId: string, other: LLM | null = null): Model {
    const model = other === null ? this.openOwn() : this.#openOther(other);
    return this.#recorded(model, {
      ...(other ?? this.#deps.configuration.config.agent.llm),
      usage_id: usageId,
    });
  }

  openCondenser(settings: CondenserSettings): Model {
    const model = this.#openOther(withCondenserSecrets(settings, this.#deps.configuration.secrets));
    return this.#recorded(model, settings.llm);
  }

  /** A stored model of the owner; null if there is none with this name. */
  async findStored(name: string): Promise<LLM | null> {
    return await this.#deps.models.findStored(name);
  }

  /** The stored model that writes titles; null for the agent's. */
  async findTitleModel(): Promise<LLM | null> {
    const { title_llm_profile: name } = this.#deps.configuration.config;
    if (name === undefined) return null;
    const found = await this.#deps.models.findStored(name);
    if (found === null) {
      const fields = { conversation: this.#deps.id, profile: name };
      this.#deps.logger.warn(fields, "the model for titles is no longer stored; the agent's model is used");
    }
    return found;
  }

  #recorded(model: Model, llm: LLM): Model {
    const { id, log, queue, logger } = this.#deps;
    return recordedModel(model, async (calls) => {
      try {
        await queue.post(() => log.append([addCalls(log.state.stats, llm, calls)]));
      } catch (error) {
        // The ledger has the cost; an answer is not lost because statistics failed.
        const fields = { conversation: id, error: String(error) };
        logger.warn(fields, "the cost of a call could not be added to the stats");
      }
    });
  }

  /** An additional model with its credentials. */
  #openOther(llm: LLM): Model {
    const { config, secrets } = this.#deps.configuration;
    const own = { ...config, agent: { ...config.agent, llm } };
    return this.#deps.models.open(own, { ...secrets, llm: {} });
  }
}
