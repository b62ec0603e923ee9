import { expect, test } from "vitest";
import type { UserRole } from "@convoke/protocol";
import { runConversations, type RunConversationsDeps } from "./run-conversations.ts";

const roles: Readonly<Record<string, UserRole>> = { ada: "admin", bob: "member", eve: "viewer" };

test("disabled users and viewers start nothing", () => {
  const users = { isDisabled: (id: string) => id === "bob", roleOf: (id: string) => roles[id] ?? "member" };
  // Only the users are asked.
  const conversations = runConversations({ users } as unknown as RunConversationsDeps);
  expect(conversations.refusalOf("ada")).toBeNull();
  expect(conversations.refusalOf("carl")).toBeNull();
  expect(conversations.refusalOf("bob")).toBe("The user is disabled.");
  expect(conversations.refusalOf("eve")).toBe("The user may not start conversations any more.");
});
