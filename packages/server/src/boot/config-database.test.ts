import { expect, test } from "vitest";
import { readConfig } from "./config.ts";
import { describePlace, passwordsOf } from "../database/postgres-place.ts";

test("without a database everything is kept in the data folder", () => {
  expect(readConfig({}).database).toBeNull();
  expect(readConfig({ CONVOKE_DATABASE: "" }).database).toBeNull();
  expect(readConfig({ CONVOKE_DATABASE: "postgres://a/b" }, { database: "" }).database).toBeNull();
});

test("a flag wins over the environment", () => {
  const environment = {
    CONVOKE_DATABASE: "postgres://one/db",
    CONVOKE_DATABASE_LISTEN: "off",
    CONVOKE_NODE_ADDRESS: "http://node-a:8000/",
  };
  const { database, allowedHosts } = readConfig(environment, {
    database: "postgresql://two:5433/db",
  });
  expect(database).toEqual({
    url: "postgresql://two:5433/db",
    listenUrl: null,
    nodeAddress: "http://node-a:8000",
  });
  expect(allowedHosts).toEqual(["node-a"]);
});

test.each([
  ["CONVOKE_DATABASE", "mysql://u:hunter2@h/db"],
  ["CONVOKE_DATABASE", "postgres://u:hunter2@h"],
  ["CONVOKE_DATABASE", "postgres://u:hunter2/x@h:port/db"],
  ["CONVOKE_DATABASE_LISTEN", "hunter2"],
  ["CONVOKE_NODE_ADDRESS", "http://u:hunter2@node/path"],
])("P3: %s that cannot be used is refused by name, without its secret", (name, value) => {
  const read = (): unknown => readConfig({ CONVOKE_DATABASE: "postgres://h/db", [name]: value });
  expect(read).toThrow(name);
  expect(read).not.toThrow("hunter2");
});

test("what people see of a database has no password in it", () => {
  expect(describePlace({ url: "postgres://u:p@db.example.org/convoke" })).toBe(
    "convoke at db.example.org:5432",
  );
  expect(describePlace({ url: "postgres://u:p@db:6432/my%20data?sslmode=require" })).toBe(
    "my data at db:6432",
  );
  expect(describePlace({ url: "postgres://u@localhost/x?host=%2Frun%2Fpg" })).toBe("x at /run/pg");
  expect(passwordsOf({ url: "postgres://u:p%40ss@db/x" })).toEqual(["p%40ss", "p@ss"]);
  expect(passwordsOf({ url: "postgres://u@db/x" })).toEqual([]);
});
