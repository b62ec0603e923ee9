import { readConfig } from "@convoke/server/config";
import { expect, test } from "vitest";
import { welcome } from "./welcome.ts";

const server = { url: "http://127.0.0.1:8000", sessionKey: null, sandboxes: null, walls: null };

test("a start says how its page is reached, and without one which command builds it", () => {
  const pageOf = (page: string | null): string | undefined =>
    welcome(server, readConfig({}, {}), page, false).find((line) => line.startsWith("  page "));
  expect(pageOf("http://127.0.0.1:8000/")).toBe("  page   http://127.0.0.1:8000/");
  expect(pageOf(null)).toBe("  page   not built: stop, and build it with npm run build:web");
});
