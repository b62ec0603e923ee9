import { resolve } from "node:path";
import { expect, test } from "vitest";
import { wallRequest } from "./wall-request.ts";

test("nothing is ordered without an option, and folders are absolute and read-only unless they say so", () => {
  expect(wallRequest({})).toEqual({});
  expect(
    wallRequest({ hide: [".env"], unlock: [".vscode"], folder: ["../docs", "/srv/lib:rw", "/a:b"] }),
  ).toEqual({
    wall: {
      hide: [".env"],
      unlocked: [".vscode"],
      extra_folders: [
        { path: resolve("../docs"), mode: "ro" },
        { path: "/srv/lib", mode: "rw" },
        { path: "/a:b", mode: "ro" },
      ],
    },
  });
});

test("kind and network go to a running server; one of our own is started with them", () => {
  const options = { sandbox: "off", network: "none" };
  expect(wallRequest(options)).toEqual({});
  expect(wallRequest({ ...options, server: "http://127.0.0.1:8000" })).toEqual({
    wall: { kind: "off", network: "none" },
  });
  const wrong = (network: string) => () => wallRequest({ network, server: "http://127.0.0.1:8000" });
  expect(wrong(":::")).toThrow(/^--network: .*Write a host such as example\.com/u);
  expect(wrong("all,none")).toThrow(/^--network: The network must be/u);
});
