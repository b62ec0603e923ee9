import { readConfig } from "@convoke/server/config";
import { expect, test } from "vitest";
import { folderFlag } from "../commands/store-options.ts";
import { welcome } from "./welcome.ts";

test("a start says how people reach it: the page or which command builds it, and the command for a terminal, with the data folder where it is another", () => {
  const server = { url: "http://127.0.0.1:8000", sessionKey: null, sandboxes: null, walls: null };
  const config = readConfig({ HOME: "/home/ada" }, { dataDir: "/srv/a b" });
  const chat = `convoke chat${folderFlag({ dataDir: "/srv/a b" })}`;
  const lines = welcome(server, config, { page: "http://127.0.0.1:8000/", chat }, false);
  expect(lines.slice(0, 3)).toEqual([
    "Convoke is listening on http://127.0.0.1:8000",
    "  page   http://127.0.0.1:8000/",
    "  chat   convoke chat --data-dir '/srv/a b'   (in another terminal)",
  ]);
  const without = welcome(server, config, { page: null, chat: null }, false);
  expect(without.filter((line) => /page|chat/u.test(line))).toEqual([
    "  page   not built: stop, and build it with npm run build:web",
  ]);
  expect(folderFlag({})).toBe("");
  expect(folderFlag({ dataDir: "~/data" })).toBe(" --data-dir ~/data");
});
