import { expect, test } from "vitest";
import { ApiError, type ConvokeClient } from "@convoke/client";
import { exchangeTicket, takeTicket } from "./exchange.ts";

test("U21: the ticket is taken out of the address before anything else happens", () => {
  const replaced: string[] = [];
  const take = (pathname: string, hash: string) =>
    takeTicket({ pathname, hash }, (address) => replaced.push(address));
  expect(take("/login", "#t=abc")).toBe("abc");
  expect(take("/prefix/login", "#t=abc")).toBe("abc");
  expect(take("/c/1", "")).toBeNull();
  expect(replaced).toEqual(["/", "/prefix/"]);
});

test("hardening 7: where somebody else is logged in the person is asked, and a no changes nothing", async () => {
  const sent: object[] = [];
  const client = {
    call: async (_operation: string, { body }: { body: object }) => {
      sent.push(body);
      if (!("replaces" in body)) throw new ApiError(409, "You are ann.", "other_login", []);
      return { proof: "p", user_id: "bob" };
    },
  } as unknown as ConvokeClient;
  const questions: string[] = [];
  const answer = (isYes: boolean) => (question: string) => questions.push(question) > 0 && isYes;
  expect(await exchangeTicket(client, "t", answer(false))).toBeNull();
  expect(sent).toEqual([{ ticket: "t" }]);
  expect(await exchangeTicket(client, "t", answer(true))).toEqual({ proof: "p", user_id: "bob" });
  expect(sent.at(-1)).toEqual({ ticket: "t", replaces: true });
  expect(questions).toEqual(["You are ann.", "You are ann."]);
});
