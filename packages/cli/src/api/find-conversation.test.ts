import type { ConversationInfo, ConversationPage } from "@convoke/protocol";
import { expect, test } from "vitest";
import { findConversation, shortIds } from "./find-conversation.ts";

const ids = [
  "0198c0de-0001-7000-8000-000000000001",
  "0198c0de-0002-7000-8000-000000000002",
  "7f000000-0000-4000-8000-000000000003",
];

/** Pages of one conversation each. */
const client = {
  async searchConversations({ page_id: pageId }: { readonly page_id?: string | null } = {}) {
    const at = pageId ? Number(pageId) : 0;
    const items = ids.slice(at, at + 1).map((id) => ({ id }) as ConversationInfo);
    return { items, next_page_id: at + 1 < ids.length ? String(at + 1) : null } as ConversationPage;
  },
};

test.each([
  ["@last", ids[0]],
  ["7f00", ids[2]],
  ["0198c0de-0002", ids[1]],
  ["0198C0DE0001", ids[0]],
  ["00000000000000000000000000000009", "00000000-0000-0000-0000-000000000009"],
])("%s is a conversation", async (given, id) => {
  expect(await findConversation(client, given)).toBe(id);
});

test.each([
  ["0198", "2 ids begin with 0198: 0198c0de-0001"],
  ["abcd", "No conversation of the newest 2000"],
  ["7f0", "4 characters or more"],
  ["@first", "@last"],
])("%s is none, and the error says what to do", async (given, message) => {
  await expect(findConversation(client, given)).rejects.toThrow(message);
});

test("ids are shown as short as they stay different, never with a dash at the end", () => {
  expect(shortIds(ids)).toEqual(["0198c0de-0001", "0198c0de-0002", "7f000000-0000"]);
  expect(shortIds([ids[0]!, ids[2]!])).toEqual(["0198c0de", "7f000000"]);
  expect(shortIds([])).toEqual([]);
});
