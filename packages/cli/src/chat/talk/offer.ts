import type { ConvokeClient } from "@convoke/client";
import { shownDuration } from "@convoke/client/view";
import { printable } from "../../print/printable.ts";
import type { Key } from "../input/key-reader.ts";
import type { Theme } from "../screen/theme.ts";
import { folderOf } from "./choose-conversation.ts";

export type LastConversation = { readonly id: string; readonly title: string; readonly ageMs: number };

/** Older ones are not offered; `-c` opens them. */
const maxAgeMs = 86_400_000;

/** The newest conversation of a folder, if somebody worked in it within a day. */
export async function findLastConversation(
  client: Pick<ConvokeClient, "searchConversations">,
  folder: string,
  nowMs: number,
): Promise<LastConversation | null> {
  const { items } = await client.searchConversations({ limit: 100, sort_order: "UPDATED_AT_DESC" });
  const found = items.find((info) => folderOf(info) === folder && !info.parent_conversation_id);
  if (found?.updated_at === undefined) return null;
  const ageMs = Math.max(0, nowMs - Date.parse(found.updated_at));
  return ageMs > maxAgeMs ? null : { id: found.id, title: found.title ?? found.id.slice(0, 8), ageMs };
}

/** Asks at the start whether to go on with the last conversation. A message begins a new one. */
export class Offer {
  readonly #onAccept: (id: string) => void;
  #last: LastConversation | null = null;

  constructor(onAccept: (id: string) => void) {
    this.#onAccept = onAccept;
  }

  make(last: LastConversation): void {
    this.#last = last;
  }

  end(): void {
    this.#last = null;
  }

  /** False for keys that mean something else, which end the offer. */
  press(key: Key): boolean {
    const last = this.#last;
    if (last === null || key.type === "focus") return false;
    this.end();
    if (key.type === "key" && key.name === "enter") this.#onAccept(last.id);
    else return key.type === "key" && key.name === "escape";
    return true;
  }

  lines({ paint, signs }: Theme): string[] {
    if (this.#last === null) return [];
    const { title, ageMs } = this.#last;
    return [
      `${paint.bold(`${signs.ask} Go on with`)}  ${printable(title)}  ${paint.dim(`${shownDuration(ageMs)} ago`)}`,
      paint.dim("  enter goes on   esc new   or write a message to begin a new conversation"),
    ];
  }
}
