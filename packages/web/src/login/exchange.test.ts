import { expect, test } from "vitest";
import { ApiError, type ConvokeClient } from "@convoke/client";
import { exchangeTicket, takeLoginLink } from "./exchange.ts";
import { providerAddress } from "./provider-address.ts";

test("U21: the ticket is taken out of the address before anything else happens", () => {
  const replaced: string[] = [];
  const take = (pathname: string, hash: string) =>
    takeLoginLink({ pathname, hash }, (address) => replaced.push(address));
  expect(take("/login", "#t=abc")).toEqual({ ticket: "abc" });
  expect(take("/prefix/login", "#t=abc")).toEqual({ ticket: "abc" });
  expect(take("/c/1", "")).toBeNull();
  expect(take("/c/1", "#e=no_role")).toBeNull();
  expect(replaced).toEqual(["/", "/prefix/"]);
});

test("a link from the identity provider leads to a path on the page, and nowhere else", () => {
  const placeOf = (pathname: string, to: string): string => {
    let place = "";
    const hash = `#${new URLSearchParams({ t: "abc", to }).toString()}`;
    takeLoginLink({ pathname, hash }, (address) => (place = address));
    return place;
  };
  expect(placeOf("/login", "/c/1?x=2")).toBe("/c/1?x=2");
  expect(placeOf("/prefix/login", "/c/1")).toBe("/prefix/c/1");
  for (const to of [
    "//evil.example",
    "/\\evil.example",
    "https://evil.example",
    "\\\\evil.example",
    "c/1",
    "",
  ])
    expect(placeOf("/login", to)).toBe("/");
  const refused = takeLoginLink({ pathname: "/login", hash: "#e=no_role" }, () => {});
  expect(refused).toEqual({ refusal: "no_role" });
});

test("the way to the identity provider names the present page", () => {
  const address = (pathname: string, search = "") =>
    providerAddress("https://a.example/p", "/p", { pathname, search });
  expect(address("/p/c/1", "?x=2")).toBe("https://a.example/p/api/auth/oidc?return_to=%2Fc%2F1%3Fx%3D2");
  expect(address("/p/login")).toBe("https://a.example/p/api/auth/oidc?return_to=%2F");
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
