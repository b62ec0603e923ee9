import { expect, test } from "vitest";
import { startTestServer } from "../../testing/start-server.ts";
import { TestSocket } from "../../testing/test-socket.ts";

type FullState = { key?: string; value?: { version: number; execution_status: string } };

test("P36: the first frame of every connection is the whole state, and its version never goes backwards", async () => {
  await using server = await startTestServer({ script: { turns: [{ text: "One." }, { text: "Two." }] } });
  const { id } = await server.createConversation();
  const versions: number[] = [];
  for (const text of ["first", "second"]) {
    using socket = new TestSocket(`${server.url}/sockets/events/${id}`, {
      headers: { "x-session-api-key": server.key },
    });
    await socket.untilCount(1);
    expect(socket.events[0]).toMatchObject({
      key: "full_state",
      value: { version: expect.any(Number) as number },
    });
    await server.client.sendMessage(id, { content: [{ type: "text", text }], run: true });
    const isOver = ({ key, value }: FullState): boolean =>
      key === "full_state" && value?.execution_status === "finished";
    await socket.until((events) => (events.slice(1) as FullState[]).some(isOver), 15_000);
    const states = (socket.events as FullState[]).filter(({ key }) => key === "full_state");
    versions.push(...states.map(({ value }) => value!.version));
    // A state that says "finished" was made when everything that it tells was stored.
    expect(versions.at(-1)).toBe((await server.events(id)).length);
    await server.restart();
  }
  expect(versions.length).toBeGreaterThanOrEqual(4);
  expect(versions).toEqual(versions.toSorted((left, right) => left - right));
});
