import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { AppendBatch } from "../../journal/journal.ts";
import { withMethods } from "../../testing/with-methods.ts";
import { startTestServer, type TestServerOptions } from "../../testing/start-server.ts";
import { until } from "../../testing/until.ts";

const call = (command: string) => ({ name: "terminal", arguments: { command } });
const canAnnounce = existsSync("/proc/sys/kernel/random/boot_id");

/** A server whose store calls `onActions` before it takes actions. */
async function startServer(
  options: Pick<TestServerOptions, "script">,
  onActions: (actionIds: readonly string[]) => Promise<void>,
) {
  const actionsOf = ({ events }: AppendBatch): string[] =>
    events.filter(({ kind }) => kind === "ActionEvent").map(({ id }) => id);
  return await startTestServer({
    ...options,
    wrapJournal: (journal) =>
      withMethods(journal, {
        append: async (lease, batch) => {
          const ids = actionsOf(batch);
          if (ids.length > 0) await onActions(ids);
          await journal.append(lease, batch);
        },
      }),
  });
}

type Row = { readonly action_id: string; readonly isAnnounced: number; readonly isBegun: number };

/** What the tool host has written of all executions. */
function recorded(dataDir: string): Row[] {
  return globSync("**/executions.sqlite", { cwd: dataDir }).flatMap((name) => {
    using database = new DatabaseSync(join(dataDir, name), { readOnly: true });
    const hasTable = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'executions'").get();
    if (hasTable === undefined) return [];
    const sql = `SELECT action_id, announced_in IS NOT NULL AS isAnnounced, started_at_ms IS NOT NULL AS isBegun
      FROM executions`;
    return database.prepare(sql).all() as Row[];
  });
}

test.runIf(canAnnounce)(
  "P6: the host records a call while its action is being stored, and begins it after that",
  async () => {
    const announced: Row[][] = [];
    await using server = await startServer(
      { script: { turns: [{ tool_calls: [call("ls")] }, { text: "Done." }], select: "in_order" } },
      async () => {
        await until(() => recorded(server.dataDir).length > 0);
        announced.push(recorded(server.dataDir));
        expect(server.quickTools.started).toEqual([]);
      },
    );
    await server.runTo("finished", "Look.");
    expect(announced).toMatchObject([[{ isAnnounced: 1, isBegun: 0 }]]);
    expect(server.quickTools.started).toEqual(["ls"]);
    expect(recorded(server.dataDir)).toMatchObject([{ action_id: announced[0]?.[0]?.action_id, isBegun: 1 }]);
  },
);

test("calls that come together are recorded when they begin", async () => {
  const turns = [{ tool_calls: [call("one"), call("two")] }, { text: "Done." }];
  await using server = await startServer({ script: { turns, select: "in_order" } }, async () => {});
  await server.runTo("finished", "Look.");
  expect(recorded(server.dataDir)).toMatchObject([
    { isAnnounced: 0, isBegun: 1 },
    { isAnnounced: 0, isBegun: 1 },
  ]);
});

test("a call that waits for a person is recorded when it begins", async () => {
  const turns = [{ tool_calls: [call("one")] }, { text: "Done." }];
  await using server = await startServer({ script: { turns, select: "in_order" } }, async () => {});
  const id = await server.runTo("waiting_for_confirmation", "Look.", {
    confirmation_policy: { kind: "AlwaysConfirm" },
  });
  expect(recorded(server.dataDir)).toEqual([]);
  await server.call("POST", `/api/conversations/${id}/run`);
  await server.waitForStatus(id, "finished");
  expect(recorded(server.dataDir)).toMatchObject([{ isAnnounced: 0, isBegun: 1 }]);
});
