import { expect, test } from "vitest";
import type { UserRole } from "@convoke/protocol";
import { runConversations, type RunConversationsDeps } from "./run-conversations.ts";

const roles: Readonly<Record<string, UserRole>> = { ada: "admin", bob: "member", eve: "viewer" };

test("disabled users and viewers start nothing", () => {
  const users = { isDisabled: (id: string) => id === "bob", roleOf: (id: string) => roles[id] ?? "member" };
  // Only the users are asked.
  const { refusalOf } = runConversations({ users } as unknown as RunConversationsDeps);
  expect(refusalOf("ada")).toBeNull();
  expect(refusalOf("carl")).toBeNull();
  expect(refusalOf("bob")).toBe("The user is disabled.");
  expect(refusalOf("eve")).toBe("The user may not start conversations any more.");
});
