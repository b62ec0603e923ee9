import { expect, test } from "vitest";
import { ConnectionDealer } from "./connection-dealer.ts";

function openDealer(maxWaiting = 100) {
  const orders: string[] = [];
  const dealer = new ConnectionDealer<string>({
    give: (number, connection) => orders.push(`${connection} to ${number}`),
    letGo: (connection) => orders.push(`let go of ${connection}`),
    breakOff: (connection) => orders.push(`break off ${connection}`),
    maxWaiting,
  });
  return { dealer, taken: () => orders.splice(0) };
}

test("connections go to processes by turns, each when the last was taken", () => {
  const { dealer, taken } = openDealer();
  dealer.join(1);
  dealer.join(2);
  for (const connection of ["a", "b", "c", "d"]) dealer.deal(connection);
  expect(taken()).toEqual(["a to 1", "b to 2"]);
  dealer.taken(2);
  expect(taken()).toEqual(["let go of b", "c to 2"]);
  dealer.taken(1);
  expect(taken()).toEqual(["let go of a", "d to 1"]);
});

test("one that stands still has one connection and gets no other", () => {
  const { dealer, taken } = openDealer();
  dealer.join(1);
  dealer.join(2);
  for (const connection of ["a", "b", "c"]) {
    dealer.deal(connection);
    dealer.taken(2);
  }
  expect(taken()).toEqual(["a to 1", "b to 2", "let go of b", "c to 2", "let go of c"]);
});

test("what a process had not taken when it ended goes to another, before what came later", () => {
  const { dealer, taken } = openDealer();
  dealer.join(1);
  dealer.deal("a");
  dealer.deal("b");
  dealer.leave(1);
  dealer.join(2);
  dealer.taken(2);
  expect(taken()).toEqual(["a to 1", "a to 2", "let go of a", "b to 2"]);
  dealer.taken(1);
  expect(taken()).toEqual([]);
});

test("connections wait while there is no process, as many as may, and come to the first that joins", () => {
  const { dealer, taken } = openDealer(2);
  for (const connection of ["a", "b", "c"]) dealer.deal(connection);
  expect(taken()).toEqual(["break off c"]);
  dealer.join(1);
  expect(taken()).toEqual(["a to 1"]);
});

test("a process that joins twice gets one connection at a time", () => {
  const { dealer, taken } = openDealer();
  dealer.join(1);
  dealer.join(1);
  dealer.deal("a");
  dealer.join(1);
  dealer.deal("b");
  expect(taken()).toEqual(["a to 1"]);
});

test("closing breaks off what waits, and later what comes or comes back", () => {
  const { dealer, taken } = openDealer();
  dealer.join(1);
  dealer.deal("a");
  dealer.deal("b");
  dealer.close();
  dealer.deal("c");
  dealer.leave(1);
  expect(taken()).toEqual(["a to 1", "break off b", "break off c", "break off a"]);
});
