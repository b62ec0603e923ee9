import type { SecretSource } from "@convoke/protocol";
import { isDeepStrictEqual } from "node:util";
import type { ToolSecret } from "@convoke/tool-host";
import { shownAgent } from "../agent/acp-options.ts";
import { keepBinding } from "../egress/check-secret-binding.ts";
import type { Clock } from "../lib/clock.ts";
import type { EventDraft } from "../events/event-draft.ts";
import { createMask } from "../security/mask.ts";
import type { SecretBox } from "../security/seal.ts";
import { deadlineOf } from "./approval-policy.ts";
import { fetchedOf, toBoundSecrets, toToolSecrets, withPlaceholders } from "./bound-secrets.ts";
import { toStored, type ConversationConfig, type ConversationSecrets } from "./conversation-config.ts";
import { warning, type Warning } from "../events/warning.ts";
import type { ConversationLog } from "./conversation-log.ts";
import { stateUpdate } from "../events/state-update.ts";
import { unmaskedSources } from "./masked-values.ts";
import type { BoundSecretSink } from "./ports.ts";
import { secretValues, sparedTexts } from "./secret-values.ts";
import { secretRegistry } from "./state/conversation-info.ts";
import type { WorkQueue } from "./work-queue.ts";

/** Clients see this version in `settings_used` alone. */
const unshown: keyof ConversationConfig = "settings_version";

export type ConfigurationDeps = {
  readonly config: ConversationConfig;
  readonly secrets: ConversationSecrets;
  readonly log: ConversationLog;
  readonly queue: WorkQueue;
  readonly secretBox: SecretBox;
  readonly boundSecrets: BoundSecretSink;
  readonly clock: Clock;
};

/**
 * The current configuration of a conversation. A change is durable, published and in effect when its promise
 * resolves.
 */
export class Configuration {
  readonly #deps: ConfigurationDeps;
  #config: ConversationConfig;
  #secrets: ConversationSecrets;

  constructor(deps: ConfigurationDeps) {
    this.#deps = deps;
    this.#config = deps.config;
    this.#secrets = deps.secrets;
    deps.log.mask = createMask(secretValues(deps.secrets), sparedTexts(deps.config));
    deps.boundSecrets.set(toBoundSecrets(deps.secrets));
  }

  get config(): ConversationConfig {
    return this.#config;
  }

  get secrets(): ConversationSecrets {
    return this.#secrets;
  }

  /** `llmSecrets` replace the credentials of the agent's model in the same change; `warnings` are logged with it. */
  async change(
    change: Partial<ConversationConfig>,
    llmSecrets: ConversationSecrets["llm"] | null = null,
    warnings: readonly Warning[] = [],
  ): Promise<void> {
    await this.#change(() => change, llmSecrets, warnings);
  }

  async #change(
    toChange: (config: ConversationConfig) => Partial<ConversationConfig>,
    llmSecrets: ConversationSecrets["llm"] | null = null,
    warnings: readonly Warning[] = [],
  ): Promise<void> {
    await this.#deps.queue.post(async () => {
      const change = toChange(this.#config);
      const config = { ...this.#config, ...change };
      const secrets = llmSecrets === null ? this.#secrets : { ...this.#secrets, llm: llmSecrets };
      const drafts = this.#updatesOf(change);
      if (drafts.length === 0 && llmSecrets === null) return;
      const updates = drafts.length === 0 ? [stateUpdate("agent", shownAgent(config.agent))] : drafts;
      await this.#store(config, secrets, [...updates, ...warnings.map(warning)]);
    });
  }

  /** Adds hosts that the conversation may reach through its wall. */
  async grantHosts(hosts: readonly string[]): Promise<void> {
    await this.#change(({ wall }) => ({
      wall: { ...wall, granted: [...new Set([...(wall?.granted ?? []), ...hosts])] },
    }));
  }

  /** A change stored together with other events, by `store`; call inside the mailbox. */
  async changeWith<Stored>(
    change: Partial<ConversationConfig>,
    store: (drafts: readonly EventDraft[], patch: { readonly config: string }) => Promise<Stored>,
  ): Promise<Stored> {
    const config = { ...this.#config, ...change };
    const stored = await store(this.#updatesOf(change), { config: JSON.stringify(config) });
    this.#config = config;
    return stored;
  }

  /**
   * A change of configuration and secrets together, with events of its own; call inside the mailbox. What it hides is masked from then on.
   */
  async changeAll(
    change: Partial<ConversationConfig>,
    secrets: ConversationSecrets,
    drafts: readonly EventDraft[],
  ): Promise<void> {
    await this.#store({ ...this.#config, ...change }, secrets, drafts);
  }

  /** Adds or replaces secrets; durable and sealed when it resolves (W5). */
  async addSecrets(given: Readonly<Record<string, SecretSource>>): Promise<void> {
    await this.#deps.queue.post(async () => {
      const { sources: stored, fetchedValues = {} } = this.#secrets;
      const { value: unmasked, warnings } = unmaskedSources(given, stored);
      const sources = Object.fromEntries(
        Object.entries(unmasked).map(([name, source]) => [name, keepBinding(source, stored[name])]),
      );
      const secrets = withPlaceholders({
        ...this.#secrets,
        sources: { ...stored, ...sources },
        fetchedValues: Object.fromEntries(
          Object.entries(fetchedValues).filter(([name]) => !(name in sources)),
        ),
      });
      const update = stateUpdate("secret_registry", secretRegistry(secrets));
      await this.#store(this.#config, secrets, [update, ...warnings.map(warning)]);
    });
  }

  /**
   * What tools get of the secrets that were resolved just now: of a bound one its placeholder. Its value goes to the wall's proxy and
   * into the mask.
   */
  forTools(resolved: readonly ToolSecret[]): ToolSecret[] {
    const { fetchedValues: known = {}, sources } = this.#secrets;
    const fetchedValues = { ...known, ...fetchedOf(resolved, sources) };
    if (!isDeepStrictEqual(fetchedValues, known)) this.#keep({ ...this.#secrets, fetchedValues });
    return toToolSecrets(resolved, this.#secrets);
  }

  /** Masks values of the working folder from now on, in the place of those of before. */
  maskFolder(folderValues: readonly string[]): void {
    this.#keep({ ...this.#secrets, folderValues });
  }

  /** Secrets that are known in memory only. */
  #keep(secrets: ConversationSecrets): void {
    this.#maskBoth(secrets, this.#config);
    this.#secrets = secrets;
    this.#deps.boundSecrets.set(toBoundSecrets(secrets));
  }

  /** Stores events with what they change; in effect once they are stored, and masked before. */
  async #store(
    config: ConversationConfig,
    secrets: ConversationSecrets,
    drafts: readonly EventDraft[],
  ): Promise<void> {
    this.#maskBoth(secrets, config);
    await this.#deps.log.append(drafts, {
      patch: {
        ...(config === this.#config ? {} : { config: JSON.stringify(config) }),
        ...(secrets === this.#secrets ? {} : { sealedSecrets: this.#seal(secrets) }),
      },
    });
    this.#config = config;
    this.#secrets = secrets;
    this.#deps.boundSecrets.set(toBoundSecrets(secrets));
  }

  #updatesOf(change: Partial<ConversationConfig>): EventDraft[] {
    const config = { ...this.#config, ...change };
    return Object.entries(change)
      .filter(
        ([key, value]) =>
          key !== unshown &&
          JSON.stringify(value) !== JSON.stringify(this.#config[key as keyof ConversationConfig]),
      )
      .map(([key, value]) => ({
        ...stateUpdate(key, key === "agent" ? shownAgent(config.agent) : value),
        ...this.#deadline(key, config),
      }));
  }

  /** Pending approvals get the full timeout of a new policy from now on. */
  #deadline(key: string, { approval_policy: policy }: ConversationConfig): Pick<EventDraft, "meta"> {
    const { clock, log } = this.#deps;
    if (key !== "approval_policy" || log.state.status !== "waiting_for_confirmation") return {};
    return { meta: { deadlineMs: deadlineOf(policy, clock.nowMs()) } };
  }

  /** Old secret values may still occur: they stay masked. */
  #maskBoth(secrets: ConversationSecrets, config: ConversationConfig): void {
    this.#deps.log.mask = createMask(
      [...secretValues(this.#secrets), ...secretValues(secrets)],
      [...sparedTexts(this.#config), ...sparedTexts(config)],
    );
  }

  #seal(secrets: ConversationSecrets): string {
    return this.#deps.secretBox.seal(JSON.stringify(toStored(secrets)));
  }
}
