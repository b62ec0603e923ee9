import type { BoundSecret } from "./egress.ts";

/**
 * A conversation, and whose proxy it uses: that of a wall, which has the id of the conversation that it was made for (itself, or the one
 * that ordered the sub-agent), or that of a sandbox, by its id.
 */
export type SecretsPlace = { readonly conversationId: string; readonly wallOf: string };

/**
 * The bound secrets of the conversations that are loaded in this process. A conversation sets its own whenever they change; its wall reads
 * them at each request, so that a change counts at the next one. Values are in memory only.
 */
export interface BoundSecretRegistry {
  /** Replaces those of a conversation; an empty list removes them. */
  set(place: SecretsPlace, secrets: readonly BoundSecret[]): void;
  /**
   * What a wall puts in. Where several conversations have the same placeholder, the secret of the wall's own one counts, and of others the
   * one that was set last.
   */
  ofWall(wallOf: string): readonly BoundSecret[];
  /** The same ones by conversation. */
  byConversation(wallOf: string): ReadonlyMap<string, readonly BoundSecret[]>;
  /** Calls back after each change of a wall's secrets, until the returned function is called. The callback must not throw. */
  watch(wallOf: string, onChange: () => void): () => void;
}

export function createBoundSecretRegistry(): BoundSecretRegistry {
  const walls = new Map<string, Map<string, readonly BoundSecret[]>>();
  const watchers = new Map<string, Set<() => void>>();
  return {
    set({ conversationId, wallOf }, secrets) {
      const known = walls.get(wallOf) ?? new Map<string, readonly BoundSecret[]>();
      const hadSecrets = known.delete(conversationId);
      if (secrets.length > 0) known.set(conversationId, secrets);
      else if (!hadSecrets) return;
      if (known.size === 0) walls.delete(wallOf);
      else walls.set(wallOf, known);
      for (const onChange of watchers.get(wallOf) ?? []) onChange();
    },

    ofWall(wallOf) {
      const known = walls.get(wallOf);
      if (known === undefined) return [];
      const latestFirst = [...known.values()].toReversed();
      const all = [...(known.get(wallOf) ?? []), ...latestFirst.flat()];
      const placeholders = new Set<string>();
      return all.filter(({ placeholder }) => {
        if (placeholders.has(placeholder)) return false;
        placeholders.add(placeholder);
        return true;
      });
    },

    byConversation: (wallOf) => new Map(walls.get(wallOf)),

    watch(wallOf, onChange) {
      const known = watchers.get(wallOf) ?? new Set();
      watchers.set(wallOf, known.add(onChange));
      return () => {
        known.delete(onChange);
        if (known.size === 0 && watchers.get(wallOf) === known) watchers.delete(wallOf);
      };
    },
  };
}
