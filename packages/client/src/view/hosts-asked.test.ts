import { expect, test } from "vitest";
import { hostsAsked } from "./hosts-asked.ts";

test("hosts and reason are read from the action, and one of another form is left to be shown whole", () => {
  const asked = { hosts: ["a.example", "b.example:8443"], reason: "To read." };
  const actionOf = (data: unknown) => ({ tool: "request_network", action: { kind: "ClientAction", data } });
  expect(hostsAsked(actionOf(asked))).toEqual(asked);
  expect(hostsAsked(actionOf({ ...asked, more: 1 }))).toBe(null);
  expect(hostsAsked(actionOf({ ...asked, hosts: ["a.example", 1] }))).toBe(null);
  expect(hostsAsked(actionOf("text"))).toBe(null);
  expect(hostsAsked({ ...actionOf(asked), tool: "terminal" })).toBe(null);
});
