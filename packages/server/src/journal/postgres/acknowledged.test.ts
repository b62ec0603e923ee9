import { expect, test } from "vitest";
import { Acknowledged } from "./acknowledged.ts";

test("what is forgotten while the database is looked at is told of as it was, and the look does not fail", async () => {
  const acknowledged = new Acknowledged();
  acknowledged.note("gone", { number: 7, seq: 3, eventId: "01890000-0000-7000-8000-000000000003" });
  const query = async () => {
    acknowledged.forget("gone");
    return { rows: [{ id: "gone", storedSeq: 2 }] };
  };
  expect(await acknowledged.findLost({ query } as never)).toEqual([
    {
      conversationId: "gone",
      acknowledgedSeq: 3,
      lastEventId: "01890000-0000-7000-8000-000000000003",
      storedSeq: 2,
    },
  ]);
});
