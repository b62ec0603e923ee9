import { createHash } from "node:crypto";
import type { ChatTurn } from "./chat-input.ts";

const mostChats = 5_000;

/**
 * Which conversation a chat belongs to: clients of this wire send the whole chat each time and no id. Kept in memory; a chat
 * that is not found begins a new conversation, which is told what was said.
 */
export class ChatBook {
  readonly #conversations = new Map<string, string>();

  find(userId: string, model: string, history: readonly ChatTurn[]): string | null {
    return history.length === 0 ? null : (this.#conversations.get(keyOf(userId, model, history)) ?? null);
  }

  remember(userId: string, model: string, history: readonly ChatTurn[], conversationId: string): void {
    const key = keyOf(userId, model, history);
    this.#conversations.delete(key);
    this.#conversations.set(key, conversationId);
    const [oldest] = this.#conversations.keys();
    if (this.#conversations.size > mostChats && oldest !== undefined) this.#conversations.delete(oldest);
  }
}

function keyOf(userId: string, model: string, history: readonly ChatTurn[]): string {
  const turns = history.map(({ role, text }) => [role, text.trim()]);
  return createHash("sha256")
    .update(JSON.stringify([userId, model, turns]))
    .digest("base64url");
}
