import { expect, test } from "vitest";
import { readPushServices } from "./push-services.ts";

const fail = (entry: string): never => {
  throw new Error(entry);
};

test("the services of the browsers' makers are called unless others are named, and nothing else", () => {
  const may = readPushServices(null, fail);
  for (const address of [
    "https://fcm.googleapis.com/fcm/send/a:b",
    "https://updates.push.services.mozilla.com/wpush/v2/a",
    "https://wns2-par02p.notify.windows.com/w/?token=a",
    "https://web.push.apple.com/a",
  ])
    expect([address, may(new URL(address))]).toEqual([address, true]);
  for (const address of [
    "http://fcm.googleapis.com/fcm/send/a",
    "https://fcm.googleapis.com:8443/fcm/send/a",
    "https://user@fcm.googleapis.com/fcm/send/a",
    "https://fcm.googleapis.com.example.org/a",
    "https://notpush.apple.com.example.org/a",
    "https://push.apple.com/a",
    "https://xpush.apple.com/a",
    "https://127.0.0.1/a",
    "http://169.254.169.254/latest",
  ])
    expect([address, may(new URL(address))]).toEqual([address, false]);
});

test("hosts and origins can be named", () => {
  const may = readPushServices("http://127.0.0.1:4000, Push.Example.org", fail);
  expect(may(new URL("http://127.0.0.1:4000/a"))).toBe(true);
  expect(may(new URL("http://127.0.0.1:4001/a"))).toBe(false);
  expect(may(new URL("https://push.example.org/a"))).toBe(true);
  expect(may(new URL("https://fcm.googleapis.com/a"))).toBe(false);
  expect(() => readPushServices("push.example.org/path", fail)).toThrow("push.example.org/path");
  expect(() => readPushServices("https://[", fail)).toThrow("https://[");
});
