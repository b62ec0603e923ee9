import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { ClientDisconnect } from "./client-disconnect.ts";

test("a client disconnect is reported whenever it is checked; a client with the whole answer has not disconnected", async () => {
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => void responses.push(response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const ask = async (): Promise<{ response: ServerResponse; leave: () => void }> => {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(server, "request");
    socket.resume();
    return { response: responses.at(-1)!, leave: () => socket.destroy() };
  };

  const waiting = await ask();
  const early = new ClientDisconnect(waiting.response);
  expect([early.signal.aborted, early.signal === early.signal]).toEqual([false, true]);
  const closed = once(waiting.response, "close");
  waiting.leave();
  await closed;
  expect([early.signal.aborted, new ClientDisconnect(waiting.response).signal.aborted]).toEqual([true, true]);

  const answered = await ask();
  const ended = new ClientDisconnect(answered.response);
  const { signal } = ended;
  const over = once(answered.response, "close");
  answered.response.end("Here it is.");
  await over;
  expect([signal.aborted, new ClientDisconnect(answered.response).signal.aborted]).toEqual([false, false]);
  answered.leave();
  server.close();
  await once(server, "close");
});
