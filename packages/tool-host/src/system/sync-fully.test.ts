import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { syncFully } from "./sync-fully.ts";

test.each([
  ["darwin", [1, 1]],
  ["linux", [0, 0]],
] as const)(
  "issue 26: on %s a commit asks for the full synchronisation where it needs to",
  (platform, expected) => {
    using database = new DatabaseSync(":memory:");
    syncFully(database, platform);
    const found = ["fullfsync", "checkpoint_fullfsync"].map((name) =>
      Object.values(database.prepare(`PRAGMA ${name}`).get()!).at(0),
    );
    expect(found).toEqual(expected);
  },
);
