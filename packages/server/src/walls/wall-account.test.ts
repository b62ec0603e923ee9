import { expect, test } from "vitest";
import { chooseWallAccount } from "./wall-account.ts";

const users =
  "root:x:0:0:root:/root:/bin/bash\nada:x:1000:1000::/home/ada:/bin/bash\ndaemon:x:1:1::/usr/sbin:/bin/sh\n";
const readUsers = async (): Promise<string> => users;

test("a server of an ordinary user works as that user, with the home of its environment", async () => {
  const self = { uid: 1000, gid: 1000 };
  expect(await chooseWallAccount("/nowhere", { self, home: "/work/ada", readUsers })).toEqual({
    become: null,
    shown: self,
    name: "ada",
    home: "/work/ada",
    isRoot: false,
  });
});

test("a server of root works in root's folders as root, which shows as another user", async () => {
  const account = await chooseWallAccount("/", { self: { uid: 0, gid: 0 }, home: "/root", readUsers });
  expect(account).toMatchObject({
    become: null,
    shown: { uid: 1000, gid: 1000 },
    home: "/root",
    isRoot: true,
  });
});

test("a user without an entry has a home of ours", async () => {
  const self = { uid: 4242, gid: 4242 };
  const account = await chooseWallAccount("/", { self, home: null, readUsers });
  expect(account).toMatchObject({ name: "agent", home: "/home/agent" });
});
