import { expect, test } from "vitest";
import { DatabaseUnavailableError } from "../lib/database-unavailable.ts";
import { withMethods } from "../testing/with-methods.ts";
import { startTestServer } from "../testing/start-server.ts";

/** A server whose store cannot be reached while a conversation is given back, for as long as `isUnavailable`. */
async function startServer(isUnavailable: () => boolean) {
  return await startTestServer({
    script: { turns: [{ text: "Done." }], loop: true },
    wrapJournal: (journal) =>
      withMethods(journal, {
        release: async (lease) => {
          if (isUnavailable()) throw new DatabaseUnavailableError("The database became unavailable.");
          await journal.release(lease);
        },
      }),
  });
}

test.for(["deleted again", "sent to"])(
  "H2: a conversation that could not be given back while it was deleted can be %s",
  async (how) => {
    let isUnavailable = false;
    await using server = await startServer(() => isUnavailable);
    const id = await server.runTo("finished", "Hello.");
    const path = `/api/conversations/${id}`;
    isUnavailable = true;
    expect((await server.call("DELETE", path)).json).toMatchObject({ code: "database_away" });
    isUnavailable = false;
    if (how === "sent to") {
      const content = [{ type: "text", text: "Are you there?" }];
      expect((await server.call("POST", `${path}/events`, { role: "user", content, run: true })).status).toBe(
        200,
      );
      await server.waitForStatus(id, "finished");
    }
    expect((await server.call("DELETE", path)).status).toBe(200);
    expect((await server.call("GET", path)).status).toBe(404);
  },
);
