import { expect, test } from "vitest";
import { takeTicket } from "./exchange.ts";

test("U21: the ticket is taken out of the address before anything else happens", () => {
  const replaced: string[] = [];
  const take = (pathname: string, hash: string) =>
    takeTicket({ pathname, hash }, (address) => replaced.push(address));
  expect(take("/login", "#t=abc")).toBe("abc");
  expect(take("/prefix/login", "#t=abc")).toBe("abc");
  expect(take("/c/1", "")).toBeNull();
  expect(replaced).toEqual(["/", "/prefix/"]);
});
