import { expect, test } from "vitest";
import { openEgressWorld } from "./testing/egress-world.ts";
import { createEchoServer, readBytes, readText } from "./testing/echo-server.ts";

test.each([
  ["a name", [3, 14, ...Buffer.from("db.example.com")]],
  ["an address", [1, 1, 0, 0, 1]],
])("SOCKS 5 with %s opens a tunnel", async (_case, address) => {
  await using world = await openEgressWorld({ policy: { allow: ["db.example.com:5432", "1.0.0.1:5432"] } });
  await world.place("db.example.com", 5432, createEchoServer());
  const socket = await world.open();
  socket.write(Buffer.from([5, 1, 0]));
  expect(await readBytes(socket, 2)).toEqual(Buffer.from([5, 0]));
  // Sent before the answer, as eager clients do.
  socket.end(Buffer.from([5, 1, 0, ...address, 0x15, 0x38, ...Buffer.from("ping")]));
  expect(await readBytes(socket, 10)).toEqual(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
  expect(await readText(socket)).toBe("ping");
});

test.each([
  ["a refused name", [5, 1, 0, 3, 9, ...Buffer.from("x.example"), 0, 22], 2],
  ["a command other than CONNECT", [5, 2, 0, 1, 1, 1, 1, 1, 0, 80], 7],
  ["an unknown kind of address", [5, 1, 0, 9, 1], 8],
  ["port 0", [5, 1, 0, 1, 1, 1, 1, 1, 0, 0], 8],
])("SOCKS 5 answers %s with a code", async (_case, request, code) => {
  await using world = await openEgressWorld({ policy: "none" });
  const socket = await world.open();
  socket.write(Buffer.from([5, 1, 0, ...request]));
  expect((await readBytes(socket, 12)).subarray(2)).toEqual(Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]));
  expect(world.resolved).toEqual([]);
});

test("SOCKS 5 with a login only is not spoken", async () => {
  await using world = await openEgressWorld();
  const socket = await world.open();
  socket.write(Buffer.from([5, 1, 2]));
  expect(await readBytes(socket, 2)).toEqual(Buffer.from([5, 0xff]));
});
