import { expect, test } from "vitest";
import { readHealth } from "./health.ts";

const object = { contentType: "application/json", text: '{"status":"ok"}' };
const text = { contentType: "text/plain; charset=utf-8", text: "OK" };

test("health_is_an_object: clients that accept JSON get status, clients that only accept text get OK", () => {
  for (const accept of [undefined, "", "*/*", "application/json", "text/html, application/json;q=0.9"]) {
    expect(readHealth(accept === undefined ? {} : { accept })).toEqual(object);
  }
  // What browsers and curl send takes JSON as well.
  expect(readHealth({ accept: "text/html,text/plain,*/*;q=0.8" })).toEqual(object);
  for (const accept of ["text/plain", "TEXT/PLAIN;q=0.5, text/html"])
    expect(readHealth({ accept })).toEqual(text);
});
